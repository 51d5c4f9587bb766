/** A byte range of an object. Both ends are inclusive; a null `end` means the rest of the object. */
export interface ByteRange {
  readonly start: number;
  readonly end: number | null;
}

/**
 * Parses a client's `Range` header.
 * @returns null when the header is missing or isn't a single range with a start
 */
export function parseRange(header: string | undefined): ByteRange | null {
  const match = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(header?.trim() ?? '');
  if (!match) return null;
  const start = Number(match[1]);
  const end = match[2] === undefined ? null : Number(match[2]);
  return end !== null && end < start ? null : { start, end };
}

export function formatRange({ start, end }: ByteRange): string {
  return `bytes=${start}-${end ?? ''}`;
}

const contentRange = /^bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;

/**
 * Position of a partial response in the whole object (RFC 9110 §14.4).
 * @returns null when the header is missing or invalid; `total` is null if the server doesn't say it
 */
export function parseContentRange(header: string | undefined) {
  const match = contentRange.exec(header?.trim() ?? '');
  if (!match) return null;
  const start = Number(match[1]);
  const end = Number(match[2]);
  const total = match[3] === '*' ? null : Number(match[3]);
  return end < start || (total !== null && end >= total) ? null : { start, end, total };
}

/** Whether an invalid `Content-Range` ends before it starts, as simple servers send it past the end of a file. */
export function isEmptyRange(header: string | undefined): boolean {
  const match = contentRange.exec(header?.trim() ?? '');
  return match !== null && Number(match[2]) < Number(match[1]);
}

/** The size in the `bytes *\/1234` header of a 416 response. */
export function parseUnsatisfiedTotal(header: string | undefined): number | null {
  const match = /^bytes\s+\*\/(\d{1,15})$/i.exec(header?.trim() ?? '');
  return match ? Number(match[1]) : null;
}

export function parseContentLength(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header.trim()) ? Number(header) : null;
}
