import { type Box, type BoxHeader, childBoxes, Mp4FormatError, readBoxHeader } from '../box.js';

/** Far more than the fragments of a minute of video need. */
const maxFragmentHeaderBytes = 1024 ** 2;
/** Leaves room for the fragments of one part. */
const numbersPerPart = 1024;
const hasBaseOffset = 0x01;

/** Where the parts of a source are in the output. */
export interface RewrittenPart {
  /** Counted from 0. */
  readonly number: number;
  /** Position in the output minus position in the source. */
  readonly shiftBytes: number;
}

/**
 * Makes the fragments of a one-track file those of a track in another file (ISO 14496-12, 8.8.5,
 * 8.8.7), without changing their size: their track, their numbers and, if absolute, their offsets.
 * Only `moof` boxes are buffered.
 */
export class FragmentRewriter {
  readonly #trackId: number;
  readonly #onFragment: (content: Buffer) => void;
  #part: RewrittenPart = { number: 0, shiftBytes: 0 };
  #fragments = 0;
  #header = Buffer.alloc(0);
  #box: BoxHeader | undefined;
  #left = 0;
  #held: Buffer[] = [];

  /** @param onFragment gets the content of each rewritten `moof` box */
  constructor(trackId: number, onFragment: (content: Buffer) => void) {
    this.#trackId = trackId;
    this.#onFragment = onFragment;
  }

  /** Starts a part, which consists of whole boxes. */
  begin(part: RewrittenPart): void {
    this.#part = part;
    this.#fragments = 0;
  }

  /**
   * Takes the next bytes of the part and returns those for the output.
   * @throws Mp4FormatError, RangeError when they aren't fragments of one track
   */
  push(chunk: Buffer): Buffer[] {
    const output: Buffer[] = [];
    const bytes = this.#header.length === 0 ? chunk : Buffer.concat([this.#header, chunk]);
    this.#header = Buffer.alloc(0);
    let at = 0;
    let forwardFrom = 0;
    while (at < bytes.length) {
      const box = this.#box ?? this.#open(bytes, at);
      if (box === undefined) break;
      const end = Math.min(bytes.length, at + this.#left);
      this.#left -= end - at;
      if (box.type === 'moof') {
        if (forwardFrom < at) output.push(bytes.subarray(forwardFrom, at));
        this.#held.push(Buffer.from(bytes.subarray(at, end)));
        forwardFrom = end;
      }
      at = end;
      if (this.#left > 0) continue;
      this.#box = undefined;
      if (box.type === 'moof') output.push(this.#rewritten(box));
    }
    if (forwardFrom < at) output.push(bytes.subarray(forwardFrom, at));
    this.#header = Buffer.from(bytes.subarray(at));
    return output;
  }

  /** Ends the part. @throws Mp4FormatError in the middle of a box */
  end(): void {
    if (this.#left > 0 || this.#header.length > 0)
      throw new Mp4FormatError('a fragment is longer than its index says');
  }

  #open(bytes: Buffer, at: number): BoxHeader | undefined {
    const box = readBoxHeader(bytes, at);
    if (box === undefined) return undefined;
    if (box.size === Infinity || (box.type === 'moof' && box.size > maxFragmentHeaderBytes))
      throw new Mp4FormatError(`box ${box.type} is too large`);
    this.#box = box;
    this.#left = box.size;
    return box;
  }

  #rewritten({ headerSize }: BoxHeader): Buffer {
    const moof = Buffer.concat(this.#held);
    this.#held = [];
    const boxes = childBoxes(moof, headerSize);
    const number = this.#part.number * numbersPerPart + Math.min(this.#fragments, numbersPerPart - 1) + 1;
    only(boxes, 'mfhd').bytes.writeUInt32BE(number, 12);
    const tfhd = only(childBoxes(only(boxes, 'traf').bytes), 'tfhd').bytes;
    tfhd.writeUInt32BE(this.#trackId, 12);
    if ((tfhd.readUInt8(11) & hasBaseOffset) !== 0)
      tfhd.writeBigUInt64BE(tfhd.readBigUInt64BE(16) + BigInt(this.#part.shiftBytes), 16);
    this.#fragments += 1;
    this.#onFragment(moof.subarray(headerSize));
    return moof;
  }
}

/** A view into its parent, so that writing changes it. */
function only(boxes: readonly Box[], type: string): Box {
  const [box, second] = boxes.filter((candidate) => candidate.type === type);
  if (box === undefined || second !== undefined)
    throw new Mp4FormatError(`a fragment must have one ${type} box`);
  return box;
}
