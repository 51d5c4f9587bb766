import { findBox, fullBox, uint32 } from '../box.js';
import type { Edit } from '../movie-header.js';
import { NotRemuxableError, type SourceFile, type WindowLayout } from './layout.js';
import type { Tags } from './movie-boxes.js';
import { layOutTracks, readSampleRuns, type SampledTrack } from './samples.js';
import { sampleSizes } from './sample-tables.js';
import { SampleTimes } from './sample-times.js';
import type { SourceTrack } from './source-tracks.js';

/** The part of a movie that a clip shows. */
export interface WindowTimes {
  /** Second 0 is the first frame shown. */
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
  /**
   * A player's window begins at the start, so its first frame must be a key frame. A decoder's begins at the key
   * frame before it and has more than the clip at both ends.
   */
  readonly for: 'player' | 'decoder';
}

/** Of the edits. Times of clips have milliseconds. */
const movieTimescale = 90_000;
/** Times are rounded, so the frame at a time may start just after it. */
const roundingSeconds = 0.001;
/** Video that starts longer than this after the audio doesn't define second 0. */
const maxDelaySeconds = 0.25;
/** Decoders of audio need a few packets before their output is correct, and resamplers some after the end. */
const decoderSeconds = 0.5;
/** Longer packets are of HE-AAC, whose decoder needs two packets before its output is correct. */
const longPacketSeconds = 0.03;

/**
 * Lays out an MP4 of the samples that a clip needs, whose edit lists cut it exactly (ISO 14496-12, 8.6.6).
 * @param tracks those of the output
 * @param all tracks of the files, which define second 0
 * @throws NotRemuxableError if it can't begin where it should; Mp4FormatError, RangeError
 */
export function layOutWindow(
  files: readonly SourceFile[],
  { tracks, all }: { tracks: readonly SourceTrack[]; all: readonly SourceTrack[] },
  window: WindowTimes,
  tags: Tags,
): WindowLayout {
  const timelines = all.map((track) => new SampleTimes(track));
  const zero = secondZero(timelines);
  let startSeconds = zero + window.startSeconds;
  const endSeconds = window.endSeconds === null ? Infinity : zero + window.endSeconds;
  const sliced: SampledTrack[] = [];
  // Video is first, and its key frame is where a decoder's window begins.
  for (const track of tracks) {
    const timeline = timelines[all.indexOf(track)] ?? new SampleTimes(track);
    const times = { startSeconds, endSeconds, for: window.for };
    const cut = track.handler === 'vide' ? cutVideo(timeline, times) : cutAudio(timeline, times);
    if (track.handler === 'vide' && window.for === 'decoder') startSeconds = timeline.secondsAt(cut.start);
    // Many players show an error for a track without samples.
    if (cut.samples.length > 0) sliced.push(slicedTrack(track, cut, files));
  }
  if (sliced.length === 0) throw new NotRemuxableError('the clip has no samples');
  return { layout: layOutTracks(sliced, tags), startSeconds: startSeconds - zero };
}

/** When the first frame is shown, in the movie's time; without video, when the first audio is heard. */
function secondZero(timelines: readonly SampleTimes[]): number {
  const startOf = (timeline: SampleTimes) => timeline.secondsAt(timeline.begin);
  const first = Math.min(...timelines.map(startOf));
  const video = timelines.find(({ track }) => track.handler === 'vide');
  const main = video === undefined ? first : startOf(video);
  return main - first > maxDelaySeconds ? first : main;
}

/** What to keep of a track, in its own units. */
interface Cut {
  readonly timeline: SampleTimes;
  /** In decoding order. */
  readonly samples: readonly number[];
  /** What the output shows. */
  readonly start: number;
  readonly end: number;
}

function cutVideo(timeline: SampleTimes, times: WindowTimes & { readonly endSeconds: number }): Cut {
  const isForPlayer = times.for === 'player';
  const start = timeline.unitsAt(times.startSeconds);
  const rounding = roundingSeconds * timeline.track.timescale;
  const onScreen = lastSample(timeline, start + rounding, () => true);
  const key = lastSample(timeline, onScreen === null ? Infinity : timeline.at(onScreen), (index) =>
    onScreen === null ? index === 0 : timeline.sync[index] === 1,
  );
  if (key === null || (isForPlayer && key !== onScreen))
    throw new NotRemuxableError('the clip begins with no key frame');
  if (isForPlayer) assertExact(start, timeline);
  // Video may start after the audio.
  const shownFrom = isForPlayer ? start : Math.min(start, timeline.at(key));
  const wanted = timeline.unitsAt(times.endSeconds);
  // A decoder also needs the frame after the clip, to see how long the last one is shown.
  const end = isForPlayer ? wanted : nextShown(timeline, wanted);
  let last = key;
  for (let index = key; index < timeline.shown.length; index += 1) if (timeline.at(index) < end) last = index;
  const samples: number[] = [];
  // What is shown before the key frame needs frames before it.
  for (let index = key; index <= last; index += 1)
    if (timeline.at(index) >= timeline.at(key)) samples.push(index);
  return cutOf(timeline, samples, shownFrom, isForPlayer ? wanted : Infinity);
}

/** The sample shown last up to a time. */
function lastSample(
  { shown }: SampleTimes,
  until: number,
  isCandidate: (index: number) => boolean,
): number | null {
  let last: number | null = null;
  for (const [index, time] of shown.entries())
    if (time <= until && isCandidate(index) && (last === null || time > (shown[last] ?? 0))) last = index;
  return last;
}

/** Just after the first frame that is shown at or after a time. */
function nextShown({ shown }: SampleTimes, time: number): number {
  return shown.reduce((next, each) => (each >= time && each < next ? each : next), Infinity) + 1;
}

/** @throws NotRemuxableError if the track's units are too long for a start */
function assertExact(start: number, { track, begin }: SampleTimes): void {
  if (Math.abs(Math.round(start) - start) > roundingSeconds * track.timescale && start > begin)
    throw new NotRemuxableError('its times are too coarse for the clip');
}

function cutAudio(timeline: SampleTimes, times: WindowTimes & { readonly endSeconds: number }): Cut {
  const { shown, track } = timeline;
  const start = timeline.unitsAt(times.startSeconds);
  assertExact(start, timeline);
  const extra = times.for === 'player' ? 0 : decoderSeconds * track.timescale;
  const end = timeline.unitsAt(times.endSeconds) + extra;
  const first = shown.findIndex((_time, index) => timeline.endOf(index) > start);
  if (first === -1 || timeline.at(first) >= end || start >= timeline.end)
    return { timeline, samples: [], start, end };
  const packetSeconds = (timeline.endOf(first) - timeline.at(first)) / track.timescale;
  let from = Math.max(0, first - (packetSeconds > longPacketSeconds ? 2 : 1));
  while (from > 0 && timeline.at(from) > start - extra) from -= 1;
  const samples: number[] = [];
  for (let index = from; index < shown.length && timeline.at(index) < end; index += 1) samples.push(index);
  return cutOf(timeline, samples, start, end);
}

function cutOf(timeline: SampleTimes, samples: readonly number[], start: number, end: number): Cut {
  const last = samples.reduce((latest, index) => Math.max(latest, timeline.endOf(index)), 0);
  const cut = { timeline, samples, start, end: Math.min(end, last, timeline.end) };
  if (cut.end <= start) throw new NotRemuxableError('a track ends before the clip');
  return cut;
}

/** The track with the tables and edits of the kept samples. */
function slicedTrack(
  source: SourceTrack,
  { timeline, samples, start, end }: Cut,
  files: readonly SourceFile[],
): SampledTrack {
  const { decoded } = timeline;
  const [first = 0] = samples;
  const last = samples.at(-1) ?? 0;
  const decodedAt = (sample: number) => decoded[sample] ?? 0;
  const durations = samples.map(
    (sample, index) => decodedAt(samples[index + 1] ?? last + 1) - decodedAt(sample),
  );
  // The key frame on screen at the start is shown from then on.
  const isVideo = source.handler === 'vide';
  const isOnScreen = isVideo && timeline.at(first) <= start + roundingSeconds * source.timescale;
  const shownAt = (sample: number) =>
    isOnScreen && sample === first ? Math.round(start) : timeline.at(sample);
  const offsets = samples.map((sample) => shownAt(sample) - decodedAt(sample));
  const shift = Math.max(0, -offsets.reduce((least, offset) => Math.min(least, offset), 0));
  const earliest = samples.reduce((least, sample) => Math.min(least, shownAt(sample)), Infinity);
  const begin = earliest - start > 1 ? earliest : start;
  const scaled = (units: number) => Math.round((units / source.timescale) * movieTimescale);
  const delay: Edit[] = begin > start ? [{ duration: scaled(begin - start), mediaTime: -1, speed: 1 }] : [];
  const edits = [
    ...delay,
    { duration: scaled(end - begin), mediaTime: Math.round(begin - decodedAt(first) + shift), speed: 1 },
  ];
  const kept = new Uint8Array(timeline.shown.length);
  for (const sample of samples) kept[sample] = 1;
  const { runs } = readSampleRuns(source, files, (sample) => kept[sample] === 1);
  const shiftedOffsets = offsets.map((offset) => offset + shift);
  const tables = [
    runTable('stts', durations),
    ...(shiftedOffsets.some((offset) => offset !== 0) ? [runTable('ctts', shiftedOffsets)] : []),
    ...sizesAndSyncSamples(timeline, samples),
  ];
  const mediaSeconds = durations.reduce((sum, duration) => sum + duration, 0) / source.timescale;
  return { ...source, movieTimescale, edits, runs, mediaSeconds, tables };
}

/** `stts` and `ctts`: runs of samples with the same value. */
function runTable(type: string, values: readonly number[]): Buffer {
  const runs: [count: number, value: number][] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.[1] === value) last[0] += 1;
    else runs.push([1, value]);
  }
  return fullBox(type, 0, 0, [uint32(runs.length), ...runs.flat().map(uint32)]);
}

/** The sizes of the kept samples, and where to enter the stream. */
function sizesAndSyncSamples({ track: { stbl }, sync }: SampleTimes, samples: readonly number[]): Buffer[] {
  const sizes = sampleSizes(stbl);
  const stsz = samples.map((sample) => uint32(sizes.at(sample)));
  const stss = samples.flatMap((sample, index) => (sync[sample] === 1 ? [uint32(index + 1)] : []));
  return [
    fullBox('stsz', 0, 0, [uint32(0), uint32(stsz.length), ...stsz]),
    ...(findBox(stbl, 'stss') === undefined ? [] : [fullBox('stss', 0, 0, [uint32(stss.length), ...stss])]),
  ];
}
