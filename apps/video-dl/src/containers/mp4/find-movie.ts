import { readBoxHeader } from './box.js';

/** Reads up to `length` bytes of a file at `offset`; fewer where the file ends. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

const maxBoxes = 16;
const maxMovieBytes = 8 * 1024 * 1024;
const brandBytes = 12;

/** Where an MP4 says what is in it. */
export interface Movie {
  /** The `moov` box. */
  readonly movie: Buffer;
  /** The `sidx` box of a file in fragments, if it lies in front of them. */
  readonly index: Buffer | undefined;
}

/**
 * The boxes of an MP4 in a file of known size that say what is in it, wherever they lie.
 * @returns undefined where the boxes are not those of an MP4, or not all of the file is there (ISO 14496-12, 4.2, 4.3)
 * @throws Mp4FormatError for a box that cannot be; what `readAt` throws
 */
export async function findMovie(readAt: ReadAt, totalBytes: number): Promise<Movie | undefined> {
  const start = await readAt(0, brandBytes);
  // QuickTime has the same boxes and more than MP4 players know.
  if (start.toString('latin1', 4, 8) !== 'ftyp' || start.toString('latin1', 8, 12) === 'qt  ')
    return undefined;
  let movie: Buffer | undefined;
  let index: Buffer | undefined;
  let hasMedia = false;
  let offset = 0;
  for (let boxes = 0; boxes < maxBoxes && offset < totalBytes; boxes += 1) {
    const header = readBoxHeader(await readAt(offset, 16));
    if (header === undefined) return undefined;
    const end = header.size === Infinity ? totalBytes : offset + header.size;
    if (end > totalBytes) return undefined;
    if ((header.type === 'moov' || header.type === 'sidx') && header.size > maxMovieBytes) return undefined;
    if (header.type === 'moov') movie = await readAt(offset, end - offset);
    if (header.type === 'sidx') index ??= await readAt(offset, end - offset);
    if (header.type === 'mdat') hasMedia = true;
    if (movie !== undefined && hasMedia) return { movie, index };
    offset = end;
  }
  return undefined;
}
