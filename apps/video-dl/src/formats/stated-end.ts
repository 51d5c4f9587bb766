import { id3TagBytes, readXingHeader } from './mpeg-audio/frames.js';

interface Chunk {
  readonly isMedia: boolean;
  /** Including its header; undefined for a placeholder. */
  readonly bytes: number | undefined;
}

/** How to find the chunk with the media. */
interface Layout {
  readonly firstChunkAt: number;
  readonly headerBytes: number;
  /** @returns undefined where no chunk begins */
  readonly chunkAt: (header: Buffer) => Chunk | undefined;
}

const sniffedBytes = 40;
/** Writers that can't go back leave 0 or a size near one of these limits. */
const smallestPlaceholder = 0x7fff_0000;

const riff = (isMedia: (header: Buffer) => boolean): Layout => ({
  firstChunkAt: 12,
  headerBytes: 12,
  chunkAt: (header) => {
    const size = header.readUInt32LE(4);
    const isStated = size > 0 && size < smallestPlaceholder;
    const found = isMedia(header);
    return { isMedia: found, bytes: found && !isStated ? undefined : 8 + size + (size % 2) };
  },
});

const wav = riff((header) => header.toString('latin1', 0, 4) === 'data');
const avi = riff(
  (header) => header.toString('latin1', 0, 4) === 'LIST' && header.toString('latin1', 8, 12) === 'movi',
);

const mp3 = (tagBytes: number): Layout => ({
  firstChunkAt: tagBytes,
  headerBytes: 64,
  chunkAt: (header) => {
    const stated = readXingHeader(header);
    return stated && { isMedia: true, bytes: stated.bytes };
  },
});

function layoutOf(start: Buffer): Layout | null {
  const [name, type] = [start.toString('latin1', 0, 4), start.toString('latin1', 8, 12)];
  if (name === 'RIFF' && type === 'WAVE') return wav;
  if (name === 'RIFF' && type === 'AVI ') return avi;
  const tagBytes = id3TagBytes(start);
  return tagBytes > 0 || start[0] === 0xff ? mp3(tagBytes) : null;
}

/** More chunks before the media are noise. */
const maxChunks = 1024;

/** Finds where a file's header says that its media end, whichever parts of the file are read. */
export class StatedEnd {
  #layout: Layout | null | undefined;
  #wantedAt = 0;
  #chunks = 0;
  /** The beginning of what is wanted. */
  #carried: Buffer = Buffer.alloc(0);
  /** Undefined until found, and in files that don't say. */
  bytes: number | undefined;

  read(offset: number, part: Buffer): void {
    const from = this.#wantedAt + this.#carried.length - offset;
    if (this.#layout === null || from < 0 || from >= part.length) return;
    let rest = Buffer.concat([this.#carried, part.subarray(from)]);
    while (rest.length >= (this.#layout?.headerBytes ?? sniffedBytes)) {
      const next = this.#take(rest);
      if (next === null) return;
      this.#wantedAt += next;
      rest = rest.subarray(next);
    }
    this.#carried = Buffer.from(rest);
  }

  /** @returns how far away the next header is; null if nothing else is wanted */
  #take(header: Buffer): number | null {
    if (this.#layout === undefined) {
      this.#layout = layoutOf(header);
      return this.#layout === null ? null : this.#layout.firstChunkAt;
    }
    const chunk = this.#layout?.chunkAt(header);
    this.#chunks += 1;
    if (chunk?.isMedia === true && chunk.bytes !== undefined) this.bytes = this.#wantedAt + chunk.bytes;
    const isOver = chunk === undefined || chunk.isMedia || !chunk.bytes || this.#chunks > maxChunks;
    if (!isOver) return chunk.bytes;
    this.#layout = null;
    return null;
  }
}
