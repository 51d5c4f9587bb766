import { createDecipheriv } from 'node:crypto';
import { Transfer } from '../upstream/transfer.js';
import { finalFault, protocolFault } from '../upstream/transfer-fault.js';
import { damaged, notJoinable } from '../formats/rejection.js';
import type { MediaPart, Segment, SegmentIndex, SegmentList } from './segment-list.js';

const keyBytes = 16;
const blockBytes = 16;
const maxInitialisationBytes = 1024 ** 2;
/** Total for all initialisations of a list. */
const maxInitialisationsBytes = 2 * 1024 ** 2;

/** The bytes of one segment as they arrive. */
export interface SegmentBytes {
  chunks(): AsyncIterable<Buffer>;
  /** Abandons the segment unread. */
  discard(): void;
}

/** Reads the parts in a list of segments: decrypts them and checks their lengths. */
export class SegmentReader {
  readonly #index: SegmentIndex;
  readonly #keys = new Map<string, Promise<Buffer>>();
  readonly #initialisations = new Map<number, Promise<Buffer>>();
  #initialisationsBytes = 0;

  constructor(index: SegmentIndex) {
    this.#index = index;
  }

  async open(number: number, segment: Segment, signal: AbortSignal): Promise<SegmentBytes> {
    const object = this.#index.object((list) => list.segment(number).url);
    const [transfer, key] = await Promise.all([
      Transfer.open(object, segment.range, signal),
      this.#key(segment, (list) => list.segment(number), signal),
    ]);
    return {
      chunks: () => plain(checkedLength(transfer.chunks(), segment), segment, key),
      discard: () => transfer.discard(),
    };
  }

  /**
   * Reads a whole initialisation.
   * @throws TransferFault, including when all of them exceed the size limit
   */
  async initialisation(number: number, signal: AbortSignal): Promise<Buffer> {
    let reading = this.#initialisations.get(number);
    if (reading === undefined) {
      reading = this.#readInitialisation(number, signal);
      this.#initialisations.set(number, reading);
    }
    return reading;
  }

  async #readInitialisation(number: number, signal: AbortSignal): Promise<Buffer> {
    const part = (await this.#index.list(signal)).initialisation(number);
    const urlOf = (list: SegmentList) => list.initialisation(number).url;
    const [bytes, key] = await Promise.all([
      this.#small(urlOf, part.range, maxInitialisationBytes, signal),
      this.#key(part, (list) => list.initialisation(number), signal),
    ]);
    this.#initialisationsBytes += bytes.length;
    if (this.#initialisationsBytes > maxInitialisationsBytes)
      throw notJoinable('changes its encoding too often');
    const chunks: Buffer[] = [];
    for await (const chunk of plain(checkedLength([bytes], part), part, key)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async #small(
    urlOf: (list: SegmentList) => string,
    range: MediaPart['range'],
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Buffer> {
    const transfer = await Transfer.open(this.#index.object(urlOf), range, signal);
    return transfer.bytes(maxBytes);
  }

  async #key(
    { key }: MediaPart,
    partOf: (list: SegmentList) => MediaPart,
    signal: AbortSignal,
  ): Promise<Buffer | null> {
    if (key === null) return null;
    if (typeof key.key !== 'string') return checkedKey(key.key);
    let reading = this.#keys.get(key.key);
    if (reading === undefined) {
      const urlOf = (list: SegmentList) => {
        const url = partOf(list).key?.key;
        if (typeof url !== 'string') throw protocolFault('changed the list of segments');
        return url;
      };
      reading = this.#small(urlOf, null, keyBytes, signal).then(checkedKey);
      this.#keys.set(key.key, reading);
    }
    return reading;
  }
}

function checkedKey(bytes: Buffer): Buffer {
  if (bytes.length === keyBytes) return bytes;
  throw finalFault(
    'upstream_error',
    "The site's key for this video has the wrong length. Try again later, or use another page or format.",
  );
}

async function* checkedLength(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { range }: MediaPart,
): AsyncGenerator<Buffer, void, void> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    yield chunk;
  }
  if (range !== null && length !== range.end - range.start + 1) throw damaged('a part of it is incomplete');
}

async function* plain(
  chunks: AsyncIterable<Buffer>,
  { key: method }: MediaPart,
  key: Buffer | null,
): AsyncGenerator<Buffer, void, void> {
  if (method === null || key === null) {
    yield* chunks;
    return;
  }
  const decipher = createDecipheriv('aes-128-cbc', key, method.iv).setAutoPadding(false);
  let last = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([last, decipher.update(chunk)]);
    const end = Math.max(0, bytes.length - blockBytes);
    last = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
  }
  try {
    decipher.final();
  } catch {
    throw damaged("a part of it can't be decrypted");
  }
  yield withoutPadding(last);
}

/**
 * Removes the padding of the last block (RFC 5652, 6.3). Some packagers pad with zeros or not at all; what
 * then follows the media is for the joiner to check.
 */
function withoutPadding(block: Buffer): Buffer {
  const size = block.at(-1) ?? 0;
  const end = block.length - size;
  const isPadded = size > 0 && end >= 0 && block.subarray(end).every((byte) => byte === size);
  return isPadded ? block.subarray(0, end) : block;
}
