import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { type OggClock, readOggCodec, readOggPage } from './pages.js';

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
  return {
    audioFile: clock.codec === 'opus' ? 'opus' : 'ogg',
    lengthSeconds:
      totalBytes === null ? null : lengthOf(file, start, { clock, serial: first.serial, totalBytes }),
  };
}

interface Stream {
  readonly clock: OggClock;
  readonly serial: number;
  readonly totalBytes: number;
}

function lengthOf(file: PartialFile, start: Buffer, { clock, serial, totalBytes }: Stream): number | null {
  const { rate, lead } = clock;
  if (firstGranule(start) > maxFirstSeconds * rate) return null;
  const tailAt = Math.max(0, totalBytes - tailBytes);
  const tail = file.read(tailAt, totalBytes - tailAt);
  for (let at = tail.lastIndexOf('OggS'); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf('OggS', at - 1)) {
    const page = readOggPage(tail, at);
    if (page && page.granule > 0 && at + page.sizeBytes <= tail.length)
      return page.serial === serial ? Math.max(0, page.granule - lead) / rate : null;
  }
  return null;
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
