import { type Box, type BoxHeader, childBoxes, Mp4FormatError } from '../box.js';
import { BoxStream, type BoxTreatment } from '../box-stream.js';

/** Far more than the fragments of a minute of video need. */
const maxFragmentHeaderBytes = 1024 ** 2;
/** Leaves room for the fragments of one part. */
const numbersPerPart = 1024;
const hasBaseOffset = 0x01;

/**
 * Makes the fragments of a one-track file those of a track in another file (ISO 14496-12, 8.8.5,
 * 8.8.7), without changing their size: their track, their numbers and, if absolute, their offsets.
 * Only `moof` boxes are buffered.
 */
export class FragmentRewriter extends BoxStream {
  readonly #trackId: number;
  readonly #onFragment: (moof: Buffer) => void;
  #part = { number: 0, shiftBytes: 0 };
  #fragments = 0;

  /** @param onFragment gets each rewritten `moof` box */
  constructor(trackId: number, onFragment: (moof: Buffer) => void) {
    super();
    this.#trackId = trackId;
    this.#onFragment = onFragment;
  }

  /**
   * Starts a part, which consists of whole boxes.
   * @param part its number, counted from 0, and its position in the output minus that in the source
   */
  begin(part: { readonly number: number; readonly shiftBytes: number }): void {
    this.#part = part;
    this.#fragments = 0;
  }

  /** Ends the part. @throws Mp4FormatError in the middle of a box */
  end(): void {
    if (!this.isComplete) throw new Mp4FormatError('a fragment is longer than its index says');
  }

  protected beginBox({ type, size }: BoxHeader): BoxTreatment {
    if (size === Infinity || (type === 'moof' && size > maxFragmentHeaderBytes))
      throw new Mp4FormatError(`box ${type} is too large`);
    return type === 'moof' ? 'hold' : 'pass';
  }

  /** @throws Mp4FormatError, RangeError when it isn't a fragment of one track */
  protected endBox(_type: string, moof: Buffer): Buffer {
    const boxes = childBoxes(moof);
    const number = this.#part.number * numbersPerPart + Math.min(this.#fragments, numbersPerPart - 1) + 1;
    only(boxes, 'mfhd').bytes.writeUInt32BE(number, 12);
    const tfhd = only(childBoxes(only(boxes, 'traf').bytes), 'tfhd').bytes;
    tfhd.writeUInt32BE(this.#trackId, 12);
    if ((tfhd.readUInt8(11) & hasBaseOffset) !== 0)
      tfhd.writeBigUInt64BE(tfhd.readBigUInt64BE(16) + BigInt(this.#part.shiftBytes), 16);
    this.#fragments += 1;
    this.#onFragment(moof);
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
