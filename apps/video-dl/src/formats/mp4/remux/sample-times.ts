import { NotRemuxableError } from './layout.js';
import type { SourceTrack } from './movie-boxes.js';
import { maxSamples } from './samples.js';
import { assertHolds, required, SampleClock, sampleSizes, tablesIn } from './sample-tables.js';

/** When the samples of a track are decoded and shown, in its own units. */
export class SampleTimes {
  readonly track: SourceTrack;
  /** Of each sample, and the end of the last. */
  readonly decoded: Float64Array;
  readonly shown: Float64Array;
  readonly sync: Uint8Array;
  /** The first and the last time that the edits show. */
  readonly begin: number;
  readonly end: number;
  /** The movie's time zero. */
  readonly #zero: number;

  constructor(track: SourceTrack) {
    this.track = track;
    const find = tablesIn(track.stbl);
    const { count } = sampleSizes(required(find('stsz'), 'sample sizes'));
    if (count > maxSamples || count === 0) throw new NotRemuxableError('it has too many samples, or none');
    const clock = new SampleClock(required(find('stts'), 'sample durations'));
    this.decoded = new Float64Array(count + 1);
    for (let index = 0; index < count; index += 1) {
      clock.advance();
      this.decoded[index + 1] = clock.time;
    }
    this.shown = this.decoded.slice(0, count);
    const offsets = find('ctts');
    if (offsets !== undefined)
      for (const { index, at } of runsOf(offsets, count, { start: 16, valueBytes: 4 }))
        this.shown[index] = (this.shown[index] ?? 0) + offsets.readInt32BE(at);
    this.sync = syncSamples(find('stss'), count);
    const { delaySeconds, mediaTime, seconds } = shownPart(track);
    this.#zero = mediaTime - delaySeconds * track.timescale;
    let [first, last] = [Infinity, 0];
    for (let index = 0; index < count; index += 1) {
      first = Math.min(first, this.at(index));
      last = Math.max(last, this.endOf(index));
    }
    this.begin = Math.max(first, mediaTime);
    this.end = Math.min(last, seconds === null ? Infinity : mediaTime + seconds * track.timescale);
  }

  at(index: number): number {
    return this.shown[index] ?? 0;
  }

  endOf(index: number): number {
    return this.at(index) + (this.decoded[index + 1] ?? 0) - (this.decoded[index] ?? 0);
  }

  /** A time of the movie in units. */
  unitsAt(seconds: number): number {
    return this.#zero + seconds * this.track.timescale;
  }

  secondsAt(units: number): number {
    return (units - this.#zero) / this.track.timescale;
  }
}

/** The samples of a table of runs, each with the position of its value. */
export function* runsOf(
  table: Buffer,
  samples: number,
  { start, valueBytes }: { start: number; valueBytes: number },
): Generator<{ index: number; at: number }> {
  const entries = table.readUInt32BE(start - 4);
  assertHolds(table, start, entries, 4 + valueBytes);
  let index = 0;
  for (let entry = 0; entry < entries; entry += 1) {
    const at = start + entry * (4 + valueBytes);
    const end = Math.min(samples, index + table.readUInt32BE(at));
    for (; index < end; index += 1) yield { index, at: at + 4 };
  }
}

/** Without a table, every sample is one. */
function syncSamples(stss: Buffer | undefined, samples: number): Uint8Array {
  const sync = new Uint8Array(samples);
  if (stss === undefined) return sync.fill(1);
  const entries = stss.readUInt32BE(12);
  assertHolds(stss, 16, entries, 4);
  for (let entry = 0; entry < entries; entry += 1) sync[stss.readUInt32BE(16 + 4 * entry) - 1] = 1;
  return sync;
}

/** What the edits of a track show: one part, perhaps after a delay. */
function shownPart({ edits, movieTimescale: units }: SourceTrack) {
  const delays = edits.filter(({ mediaTime }) => mediaTime === -1);
  const [part, ...others] = edits.slice(delays.length);
  if (others.length > 0 || (part?.mediaTime ?? 0) < 0)
    throw new NotRemuxableError('its edits join several parts');
  return {
    delaySeconds: delays.reduce((sum, { duration }) => sum + duration, 0) / units,
    mediaTime: part?.mediaTime ?? 0,
    // In some files, 0 means to the end.
    seconds: part === undefined || part.duration === 0 ? null : part.duration / units,
  };
}
