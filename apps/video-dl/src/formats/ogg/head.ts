import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { type OggPage, readOggCodec, readOggPage } from './pages.js';

/** A page has at most 64 KiB. */
const tailBytes = 128 * 1024;
const headBytes = 64 * 1024;
const beginsStream = 0x02;
/** A page holds less. The length of a recording that starts later can't be told from its end. */
const maxFirstSeconds = 5;

/**
 * The format if there is a single stream of a known codec. A video stream would start on the second page.
 * @param totalBytes null if only the beginning can be read
 * @throws MissingBytes
 */
export function readOgg(file: PartialFile, totalBytes: number | null): Partial<MediaHead> {
  const start = file.read(0, headBytes);
  const first = readOggPage(start);
  const next = first && readOggPage(start, first.sizeBytes);
  const clock = first && readOggCodec(first.content);
  if (!next || !clock || (next.flags & beginsStream) !== 0) return {};
  const audioFile = clock.codec === 'opus' ? 'opus' : 'ogg';
  if (totalBytes === null || firstGranule(start) > maxFirstSeconds * clock.rate) return { audioFile };
  const tailAt = Math.max(0, totalBytes - tailBytes);
  const last = lastPage(file.read(tailAt, totalBytes - tailAt));
  if (last?.serial !== first.serial) return { audioFile };
  return { audioFile, lengthSeconds: Math.max(0, last.granule - clock.lead) / clock.rate };
}

/** The last page on which a packet ends. */
function lastPage(bytes: Buffer): OggPage | undefined {
  for (let at = bytes.lastIndexOf('OggS'); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf('OggS', at - 1)) {
    const page = readOggPage(bytes, at);
    if (page && page.granule > 0 && at + page.sizeBytes <= bytes.length) return page;
  }
  return undefined;
}

/** Infinity without one in these bytes. */
function firstGranule(bytes: Buffer): number {
  let page = readOggPage(bytes);
  for (let at = 0; page; page = readOggPage(bytes, at)) {
    if (page.granule > 0) return page.granule;
    at += page.sizeBytes;
  }
  return Infinity;
}
