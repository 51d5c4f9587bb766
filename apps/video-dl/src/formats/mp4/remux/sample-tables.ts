import { childBoxes, findBox, type Box } from '../box.js';
import { NotRemuxableError } from './layout.js';

/** A part of a file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the samples of a movie are in its file, chunk by chunk (ISO 14496-12, 8.7). Fragments have their own.
 * @throws NotRemuxableError when the tables contradict each other, or media are in another file; RangeError for a damaged box
 */
export function* chunksOf(moov: Buffer): Generator<Span> {
  for (const trak of childBoxes(moov)) {
    if (trak.type !== 'trak') continue;
    const dataReference = findBox(trak, 'mdia', 'minf', 'dinf', 'dref')?.bytes;
    // The flag says that the media are in the same file.
    if (dataReference !== undefined && (dataReference.readUInt32BE(24) & 1) === 0)
      throw new NotRemuxableError('its media are in another file');
    const stbl = findBox(trak, 'mdia', 'minf', 'stbl');
    if (stbl !== undefined) yield* chunksOfTrack(stbl);
  }
}

function* chunksOfTrack(stbl: Box): Generator<Span> {
  const find = tablesIn(stbl);
  const sizes = sampleSizes(required(find('stsz'), 'sample sizes'));
  if (sizes.count === 0) return;
  const offsets = chunkOffsets(find('stco'), find('co64'));
  const samplesPerChunk = new ChunkCursor(required(find('stsc'), 'chunks'));
  let sample = 0;
  for (let chunk = 0; chunk < offsets.count; chunk += 1) {
    const next = Math.min(sizes.count, sample + samplesPerChunk.at(chunk + 1).count);
    const start = offsets.at(chunk);
    yield { start, end: start + sizes.sum(sample, next) };
    sample = next;
  }
  if (sample < sizes.count) throw new NotRemuxableError('its tables differ in length');
}

/** Finds a table by its type. */
export function tablesIn(stbl: Box): (type: string) => Buffer | undefined {
  const tables = childBoxes(stbl.bytes);
  return (type) => tables.find((table) => table.type === type)?.bytes;
}

export function required(table: Buffer | undefined, what: string): Buffer {
  if (table === undefined) throw new NotRemuxableError(`it has no table of ${what}`);
  return table;
}

export interface Column {
  readonly count: number;
  at(index: number): number;
}

interface SampleSizes extends Column {
  /** Total bytes of the samples from `from` to `to`, exclusive. */
  sum(from: number, to: number): number;
}

export function sampleSizes(stsz: Buffer): SampleSizes {
  const [same, count] = [stsz.readUInt32BE(12), stsz.readUInt32BE(16)];
  if (same !== 0) return { count, at: () => same, sum: (from, to) => (to - from) * same };
  assertHolds(stsz, 20, count, 4);
  const at = (index: number) => stsz.readUInt32BE(20 + 4 * index);
  const sum = (from: number, to: number) => {
    let bytes = 0;
    for (let index = from; index < to; index += 1) bytes += at(index);
    return bytes;
  };
  return { count, at, sum };
}

export function chunkOffsets(stco: Buffer | undefined, co64: Buffer | undefined): Column {
  const table = required(stco ?? co64, 'chunk offsets');
  const count = table.readUInt32BE(12);
  if (stco !== undefined) {
    assertHolds(stco, 16, count, 4);
    return { count, at: (index) => stco.readUInt32BE(16 + 4 * index) };
  }
  assertHolds(table, 16, count, 8);
  return { count, at: (index) => Number(table.readBigUInt64BE(16 + 8 * index)) };
}

export function assertHolds(table: Buffer, start: number, count: number, entryBytes: number): void {
  if (start + count * entryBytes > table.length)
    throw new NotRemuxableError('a table has fewer entries than stated');
}

/** Steps through `stts`: runs of samples with the same duration. */
export class SampleClock {
  time = 0;
  readonly #table: Buffer;
  readonly #entries: number;
  #next = 0;
  #left = 0;
  #duration = 0;

  constructor(stts: Buffer) {
    this.#table = stts;
    this.#entries = stts.readUInt32BE(12);
    assertHolds(stts, 16, this.#entries, 8);
  }

  get isAtEnd(): boolean {
    while (this.#left === 0 && this.#next < this.#entries) this.#load();
    return this.#left === 0;
  }

  advance(): void {
    if (this.isAtEnd) throw new NotRemuxableError('it has more samples than durations');
    this.#left -= 1;
    this.time += this.#duration;
  }

  #load(): void {
    const at = 16 + 8 * this.#next;
    this.#left = this.#table.readUInt32BE(at);
    this.#duration = this.#table.readUInt32BE(at + 4);
    this.#next += 1;
  }
}

/** Steps through `stsc`: runs of chunks with the same number of samples. */
export class ChunkCursor {
  readonly #table: Buffer;
  readonly #entries: number;
  #entry = 0;

  constructor(stsc: Buffer) {
    this.#table = stsc;
    this.#entries = stsc.readUInt32BE(12);
    assertHolds(stsc, 16, this.#entries, 12);
    if (this.#entries === 0 || this.#firstChunk(0) !== 1)
      throw new NotRemuxableError("its chunks don't start with the first");
  }

  /** @param chunk counted from 1; must not decrease */
  at(chunk: number): { count: number; description: number } {
    while (this.#entry + 1 < this.#entries && this.#firstChunk(this.#entry + 1) <= chunk) this.#entry += 1;
    const at = 16 + 12 * this.#entry;
    return { count: this.#table.readUInt32BE(at + 4), description: this.#table.readUInt32BE(at + 8) };
  }

  #firstChunk(entry: number): number {
    return this.#table.readUInt32BE(16 + 12 * entry);
  }
}
