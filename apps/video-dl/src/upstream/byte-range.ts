/** Bytes of an object: first and last included; `end` null means up to the end. */
export interface ByteRange {
  readonly start: number;
  readonly end: number | null;
}

/** Where a partial answer lies in the whole object (RFC 9110 §14.4). */
export interface ContentRange {
  readonly start: number;
  readonly end: number;
  /** Null when the server does not tell. */
  readonly total: number | null;
}

/**
 * Reads the `Range` header of a reader.
 * @returns null when there is none or it asks for something else than one range with a start
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

/** @returns null when the header is missing or makes no sense */
export function parseContentRange(header: string | undefined): ContentRange | null {
  const match = /^bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(header?.trim() ?? '');
  if (!match) return null;
  const start = Number(match[1]);
  const end = Number(match[2]);
  const total = match[3] === '*' ? null : Number(match[3]);
  return end < start || (total !== null && end >= total) ? null : { start, end, total };
}

/** The size in `bytes *\/1234` of a 416 answer. */
export function parseUnsatisfiedTotal(header: string | undefined): number | null {
  const match = /^bytes\s+\*\/(\d{1,15})$/i.exec(header?.trim() ?? '');
  return match ? Number(match[1]) : null;
}

export function parseContentLength(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header.trim()) ? Number(header) : null;
}
