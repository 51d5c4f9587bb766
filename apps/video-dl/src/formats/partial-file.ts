/** Bytes of a file, starting at `offset`. */
export interface FilePiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Whether the file ends here. */
  readonly isEnd: boolean;
}

/** A part of a file to read. */
export interface FilePart {
  readonly offset: number;
  readonly bytes: number;
}

export class MissingBytes extends Error {
  readonly parts: readonly FilePart[];

  constructor(...parts: readonly FilePart[]) {
    super('more bytes are needed');
    this.parts = parts;
  }
}

const sampleBytes = 128 * 1024;

/** The parts of a file that were read so far. */
export class PartialFile {
  readonly #pieces: readonly FilePiece[];

  constructor(pieces: readonly FilePiece[]) {
    this.#pieces = pieces;
  }

  /**
   * Returns fewer bytes only at the end of the file.
   * @param lookAhead bytes to request behind these if these are missing
   * @throws MissingBytes
   */
  read(offset: number, length: number, lookAhead = 0): Buffer {
    const piece = this.#pieceWith(offset, length);
    if (piece === undefined) throw new MissingBytes({ offset, bytes: length + lookAhead });
    const { offset: start, bytes } = piece;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).subarray(
      offset - start,
      offset - start + length,
    );
  }

  #pieceWith(offset: number, length: number): FilePiece | undefined {
    return this.#pieces.find(({ offset: start, bytes, isEnd }) => {
      const isInside = offset >= start && offset + length <= start + bytes.length;
      return isInside || (isEnd && offset >= start);
    });
  }

  /** Evenly spaced parts of a span, which cover all of it if it is short. @throws MissingBytes */
  samples(start: number, end: number, count: number): Buffer[] {
    if (end - start <= count * sampleBytes) return [this.read(start, end - start)];
    const stepBytes = (end - start - sampleBytes) / (count - 1);
    const parts = Array.from({ length: count }, (_, index) => ({
      offset: start + Math.floor(index * stepBytes),
      bytes: sampleBytes,
    }));
    // Requested at once, so that a slow server is waited for once.
    const missing = parts.filter(({ offset, bytes }) => this.#pieceWith(offset, bytes) === undefined);
    if (missing.length > 0) throw new MissingBytes(...missing);
    return parts.map(({ offset, bytes }) => this.read(offset, bytes));
  }
}
