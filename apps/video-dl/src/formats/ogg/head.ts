import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { readOggCodec, readOggPage } from './pages.js';

const headBytes = 512;
const beginsStream = 0x02;

/** The format if there is a single stream of a known codec. A video stream would start on the second page. */
export function readOgg(file: PartialFile): Partial<MediaHead> {
  const start = file.read(0, headBytes);
  const first = readOggPage(start);
  const next = first && readOggPage(start, first.sizeBytes);
  const codec = first && readOggCodec(first.content)?.codec;
  if (!next || !codec || (next.flags & beginsStream) !== 0) return {};
  return { audioFile: codec === 'opus' ? 'opus' : 'ogg' };
}
