/** A named part of a video, in seconds. */
export interface Chapter {
  readonly title: string;
  readonly startSeconds: number;
  /** Null if it is the last one and the length is unknown. */
  readonly endSeconds: number | null;
}

/** What a clip contains of a video's chapters, in the time of the clip. */
export function chaptersIn(
  clip: { readonly startSeconds: number; readonly endSeconds: number | null } | null,
  chapters: readonly Chapter[],
): readonly Chapter[] {
  if (clip === null) return chapters;
  const { startSeconds, endSeconds } = clip;
  const end = endSeconds ?? Infinity;
  return chapters.flatMap((chapter) => {
    const from = Math.max(chapter.startSeconds, startSeconds);
    const to = Math.min(chapter.endSeconds ?? Infinity, end);
    if (to <= from) return [];
    const shifted = to === Infinity ? null : to - startSeconds;
    return [{ title: chapter.title, startSeconds: from - startSeconds, endSeconds: shifted }];
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
