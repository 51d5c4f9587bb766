import { readBoxHeader, type BoxHeader } from './box.js';

/** What happens to a box: its bytes pass unchanged, are dropped, or are held until the box is complete. */
export type BoxTreatment = 'pass' | 'drop' | 'hold';

/** What reads or changes the top-level boxes of a stream. */
export interface BoxHandler {
  /** Called at each header. Must limit the size of a box that it holds. */
  begin(box: BoxHeader): BoxTreatment;
  /**
   * Called at the end of each box.
   * @param held the whole box if it was held, to be changed at will
   * @returns what to write instead of a held box
   */
  end(box: BoxHeader, held: Buffer | null): Buffer | null;
}

interface OpenBox {
  readonly header: BoxHeader;
  readonly treatment: BoxTreatment;
  readonly held: Buffer | null;
  /** Bytes so far, header included. */
  taken: number;
}

const nothing: Buffer = Buffer.alloc(0);

/** Walks the top-level boxes of an MP4 as it streams. Only boxes that the handler holds are buffered. */
export class BoxStream {
  readonly #handler: BoxHandler;
  /** An incomplete header. */
  #rest = nothing;
  #box: OpenBox | null = null;
  #writtenBytes = 0;

  constructor(handler: BoxHandler) {
    this.#handler = handler;
  }

  /** Whether all boxes so far are complete. */
  get isBetweenBoxes(): boolean {
    return this.#box === null && this.#rest.length === 0;
  }

  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /**
   * Takes the next bytes and returns those to write, in order.
   * @throws Mp4FormatError when they aren't boxes
   */
  push(chunk: Buffer): Buffer[] {
    const output: Buffer[] = [];
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    // Unchanged bytes are written together, across boxes.
    let passFrom = 0;
    while (at < bytes.length) {
      const box = this.#box ?? this.#open(bytes, at);
      if (box === null) break;
      const end = Math.min(bytes.length, at + box.header.size - box.taken);
      if (box.treatment !== 'pass') {
        this.#write(bytes.subarray(passFrom, at), output);
        passFrom = end;
      }
      this.#take(box, bytes.subarray(at, end));
      at = end;
      if (box.taken === box.header.size) this.#close(box, output);
    }
    this.#write(bytes.subarray(passFrom, at), output);
    this.#rest = at === bytes.length ? nothing : Buffer.from(bytes.subarray(at));
    return output;
  }

  /** @returns null while the header is incomplete */
  #open(bytes: Buffer, at: number): OpenBox | null {
    const header = readBoxHeader(bytes, at);
    if (header === undefined) return null;
    const treatment = this.#handler.begin(header);
    // Copied, because a view would keep the caller's buffers in memory, and the caller may reuse them.
    const held = treatment === 'hold' ? Buffer.allocUnsafe(header.size) : null;
    this.#box = { header, treatment, held, taken: 0 };
    return this.#box;
  }

  #take(box: OpenBox, part: Buffer): void {
    if (box.held !== null) part.copy(box.held, box.taken);
    box.taken += part.length;
  }

  #close({ header, held }: OpenBox, output: Buffer[]): void {
    this.#box = null;
    const replacement = this.#handler.end(header, held);
    if (replacement !== null) this.#write(replacement, output);
  }

  #write(bytes: Buffer, output: Buffer[]): void {
    if (bytes.length === 0) return;
    this.#writtenBytes += bytes.length;
    output.push(bytes);
  }
}
