/** A named part of a video, in seconds. */
export interface Chapter {
  readonly title: string;
  readonly startSeconds: number;
  /** Null if it is the last one and the length is unknown. */
  readonly endSeconds: number | null;
}

/** What a clip contains of a video's chapters or subtitles, in the time of the clip. */
export function partsIn<Part extends Pick<Chapter, 'startSeconds' | 'endSeconds'>>(
  clip: { readonly startSeconds: number; readonly endSeconds: number | null } | null,
  parts: readonly Part[],
): readonly Part[] {
  if (clip === null) return parts;
  const { startSeconds: zero, endSeconds: clipEnd } = clip;
  return parts.flatMap((part) => {
    const startSeconds = Math.max(part.startSeconds, zero) - zero;
    const end = Math.min(part.endSeconds ?? Infinity, clipEnd ?? Infinity) - zero;
    const endSeconds = end === Infinity ? part.endSeconds : end;
    return end > startSeconds ? [{ ...part, startSeconds, endSeconds }] : [];
  });
}

/** The start of a text that has at most so many bytes in UTF-8. */
export function utf8Start(text: string, maxBytes: number): Buffer {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, maxBytes);
  // Not in the middle of a character.
  while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}
