/** Bytes of a file, starting at `offset`. */
export interface FilePiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Whether the file ends here. */
  readonly isEnd: boolean;
}

export class MissingBytes extends Error {
  readonly offset: number;
  readonly bytes: number;

  constructor(offset: number, bytes: number) {
    super('more bytes are needed');
    this.offset = offset;
    this.bytes = bytes;
  }
}

/** Bytes of a file and where they are in it. */
export interface Sample {
  readonly offset: number;
  readonly bytes: Buffer;
}

const sampleBytes = 128 * 1024;

/** Read after an index, to see what follows it without another request. */
const lookAheadBytes = 4096;

/** The parts of a file that were read so far. */
export class PartialFile {
  readonly #pieces: readonly FilePiece[];

  constructor(pieces: readonly FilePiece[]) {
    this.#pieces = pieces;
  }

  /** Returns fewer bytes only at the end of the file. @throws MissingBytes */
  read(offset: number, length: number): Buffer {
    for (const { offset: start, bytes, isEnd } of this.#pieces) {
      const isInside = offset >= start && offset + length <= start + bytes.length;
      if (!isInside && !(isEnd && offset >= start)) continue;
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).subarray(
        offset - start,
        offset - start + length,
      );
    }
    throw new MissingBytes(offset, length);
  }

  /** Reads a box; if more bytes are needed, requests the header of the next box too. */
  readBox(offset: number, size: number): Buffer {
    try {
      return this.read(offset, size);
    } catch (error) {
      throw error instanceof MissingBytes ? new MissingBytes(offset, size + lookAheadBytes) : error;
    }
  }

  /** Evenly spaced parts of a span, which cover all of it if it is short. @throws MissingBytes */
  samples(start: number, end: number, count: number): Sample[] {
    const stepBytes = Math.max(sampleBytes, Math.floor((end - start - sampleBytes) / (count - 1)));
    return Array.from({ length: count }, (_, index) => start + index * stepBytes)
      .filter((offset) => offset < end)
      .map((offset) => ({ offset, bytes: this.read(offset, Math.min(sampleBytes, end - offset)) }));
  }
}
