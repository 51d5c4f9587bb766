import { findBox } from '../box.js';
import { NotRemuxableError } from './layout.js';
import { assertHolds, decodeTimes, runsIn } from './sample-tables.js';
import type { SourceTrack } from './source-tracks.js';

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
    this.decoded = decodeTimes(track.stbl);
    const count = this.decoded.length - 1;
    this.shown = this.decoded.slice(0, count);
    addOffsets(this.shown, findBox(track.stbl, 'ctts')?.bytes);
    this.sync = syncSamples(findBox(track.stbl, 'stss')?.bytes, count);
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

/** Adds how much later than they are decoded samples are shown. */
function addOffsets(times: Float64Array, ctts: Buffer | undefined): void {
  let index = 0;
  for (const { samples, valueAt } of ctts === undefined ? [] : runsIn(ctts)) {
    const end = Math.min(times.length, index + samples);
    for (; index < end; index += 1) times[index] = (times[index] ?? 0) + (ctts?.readInt32BE(valueAt) ?? 0);
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
