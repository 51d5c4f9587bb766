import { type Attributes, childrenOf, type ManifestElement } from './dash-manifest.js';
import {
  mostSimilar,
  periodsOf,
  readDuration,
  type Representation,
  type WantedTrack,
} from './dash-representations.js';
import { invalid, notJoinable } from '../formats/rejection.js';
import {
  maxUrlLength,
  readCount,
  SegmentTableWriter,
  type ByteWindow,
  type ListedSegment,
  type SegmentTable,
} from './segment-table.js';

/** How much a manifest's stated duration may exceed that of its segments, in addition to two segments. */
const lengthToleranceSeconds = 1;
/** As much as a track may lack of its stated length. */
const maxAbsentSeconds = 0.5;

export interface ManifestOptions {
  /** URL of the manifest after redirects. */
  readonly url: string;
  readonly wanted: WantedTrack;
  readonly maxSegments: number;
}

/**
 * The segments of a track in all periods.
 * @throws Rejection when they can't be listed, or are more than `maxSegments`
 */
export function dashTable(mpd: ManifestElement, { url, wanted, maxSegments }: ManifestOptions): SegmentTable {
  const periods = periodsOf(mpd, url);
  const track = mostSimilar(
    periods.flatMap(({ representations }) => representations),
    wanted,
  );
  const totalSeconds = readDuration(mpd.attributes['mediaPresentationDuration']);
  const output = new TrackWriter(maxSegments);
  for (const period of periods)
    output.addPeriod(mostSimilar(period.representations, track), period.seconds, period === periods.at(-1));
  if (output.table.length === 0) throw invalid('listed no segments');
  const { seconds, longestSeconds } = output;
  const missing = totalSeconds === null || seconds === null ? 0 : totalSeconds - seconds;
  if (missing > 2 * longestSeconds + lengthToleranceSeconds)
    throw invalid("listed fewer segments than its manifest's stated duration requires");
  return output.table.finish();
}

/** Adds the segments of one track, period by period. */
class TrackWriter {
  readonly table: SegmentTableWriter;
  /** Null if a segment's duration isn't stated. */
  seconds: number | null = 0;
  longestSeconds = 0;
  #isPeriodNew = false;
  /** URLs of whole files. */
  readonly #files = new Set<string>();

  constructor(maxSegments: number) {
    this.table = new SegmentTableWriter(maxSegments);
  }

  addPeriod(representation: Representation, periodSeconds: number | null, isLast: boolean): void {
    this.table.setBaseUrl(representation.baseUrl);
    this.#isPeriodNew = this.table.length > 0;
    const of = (name: string): ManifestElement | null => inherited(representation.levels, name);
    const template = of('SegmentTemplate');
    const list = of('SegmentList');
    if (template !== null) this.#addTemplate(template, representation, { periodSeconds, isLast });
    else if (list !== null) this.#addList(list, periodSeconds);
    else this.#addFile(representation.baseUrl, of('SegmentBase'), periodSeconds);
  }

  #add(segment: Pick<ListedSegment, 'reference' | 'seconds'> & Partial<ListedSegment>): void {
    const whole = { range: null, initialisation: null, key: null, sequence: 0, isRounded: false };
    this.table.add({ ...whole, isDiscontinuity: this.#isPeriodNew, ...segment });
    this.#isPeriodNew = false;
    this.#count(segment.seconds);
  }

  /** SegmentBase or nothing: a file with its own index. Advertisements may divide it into periods. */
  #addFile(url: string, base: ManifestElement | null, periodSeconds: number | null): void {
    const isRest = this.#files.has(url) && readCount(base?.attributes['presentationTimeOffset']) > 0;
    if (isRest && this.table.endsWith('')) {
      this.table.extendLast(periodSeconds);
      this.#count(periodSeconds);
      return;
    }
    if (isRest) throw notJoinable('plays one file in parts');
    this.#files.add(url);
    this.#add({ reference: '', seconds: periodSeconds });
  }

  #count(seconds: number | null): void {
    this.seconds = this.seconds === null || seconds === null ? null : this.seconds + seconds;
    this.longestSeconds = Math.max(this.longestSeconds, seconds ?? 0);
  }

  #addTemplate(
    template: ManifestElement,
    track: Representation,
    { periodSeconds, isLast }: { periodSeconds: number | null; isLast: boolean },
  ): void {
    const { attributes } = template;
    const { media, initialization } = attributes;
    if (media === undefined) throw invalid('sent a manifest with a template without media URLs');
    const initialisation =
      initialization === undefined
        ? null
        : this.table.addInitialisation(fillTemplate(initialization, track, 0, 0), null, null);
    const startNumber = readCount(attributes['startNumber'], 1);
    const timescale = readCount(attributes['timescale'], 1) || 1;
    const [timeline] = childrenOf(template, 'SegmentTimeline');
    const offset = readCount(attributes['presentationTimeOffset']);
    const limits = { timescale, periodSeconds, offset, table: this.table };
    const times =
      timeline === undefined
        ? constantTimes(attributes, startNumber, limits)
        : timelineTimes(timeline, limits);
    const period = {
      start: this.#isPeriodNew ? offset : -Infinity,
      end: isLast || periodSeconds === null ? Infinity : offset + periodSeconds * timescale,
      leastTicks: isLast ? 1 : (periodSeconds ?? 0) * timescale,
    };
    const played = timeline === undefined ? times : ownSegments(times, period);
    for (const { time, duration, index } of played) {
      const seconds = duration / timescale;
      // Without a timeline, the shorter track of a period may have one segment less.
      const isExtra = timeline === undefined && index > 0 && index === times.length - 1;
      const mayBeAbsent = isExtra && attributes['endNumber'] === undefined && seconds <= maxAbsentSeconds;
      const reference = fillTemplate(media, track, startNumber + index, time);
      // One that crosses the boundary of two periods is listed in both. Boundaries are rounded.
      const isEarlier = timeline !== undefined && offset > 0 && time < offset + duration / 2;
      if (this.#isPeriodNew && isEarlier && this.table.endsWith(reference)) this.#isPeriodNew = false;
      else this.#add({ reference, seconds, initialisation, isRounded: timeline === undefined, mayBeAbsent });
    }
  }

  #addList(list: ManifestElement, periodSeconds: number | null): void {
    const [first] = childrenOf(list, 'Initialization');
    const { sourceURL = '', range } = first?.attributes ?? {};
    const initialisation =
      first === undefined ? null : this.table.addInitialisation(sourceURL, readRange(range), null);
    const duration = Number(list.attributes['duration']);
    const timescale = readCount(list.attributes['timescale'], 1) || 1;
    const seconds = duration > 0 ? duration / timescale : null;
    const urls = childrenOf(list, 'SegmentURL');
    for (const [index, { attributes }] of urls.entries()) {
      const isLast = index === urls.length - 1;
      const isStated = periodSeconds !== null && seconds !== null;
      const rest = isStated ? Math.min(seconds, periodSeconds - index * seconds) : 0;
      const lastSeconds = rest > 0 ? rest : null;
      this.#add({
        reference: attributes['media'] ?? '',
        range: readRange(attributes['mediaRange']),
        initialisation,
        seconds: isLast ? lastSeconds : seconds,
        isRounded: true,
      });
    }
  }
}

/** An element with its attributes and children inherited across all levels. */
function inherited(levels: readonly ManifestElement[], name: string): ManifestElement | null {
  const found = levels.flatMap((level) => childrenOf(level, name).slice(0, 1));
  const innermost = found.at(-1);
  if (innermost === undefined) return null;
  // Each kind of child is inherited separately: the set may have the initialisation and its members the segments.
  const kinds = new Set(found.flatMap(({ children }) => children.map((child) => child.name)));
  const children = [...kinds].flatMap(
    (kind) => found.map((element) => childrenOf(element, kind)).findLast(({ length }) => length > 0) ?? [],
  );
  const attributes: Attributes = Object.fromEntries(
    found.flatMap((element) => Object.entries(element.attributes)),
  );
  return { ...innermost, attributes, children };
}

interface Timed {
  readonly index: number;
  /** Ticks. */
  readonly time: number;
  readonly duration: number;
}

interface TimeLimits {
  readonly timescale: number;
  readonly periodSeconds: number | null;
  /** The time at which the period starts, in ticks. */
  readonly offset: number;
  readonly table: SegmentTableWriter;
}

function constantTimes(
  attributes: Attributes,
  startNumber: number,
  { timescale, periodSeconds, table }: TimeLimits,
): Timed[] {
  const duration = Number(attributes['duration']);
  const endNumber = readCount(attributes['endNumber'], -1);
  const total = periodSeconds === null ? null : periodSeconds * timescale;
  if (!(duration > 0) || (endNumber < startNumber && !(total !== null && total > 0)))
    throw notJoinable("has a manifest that doesn't say how many segments there are");
  const count =
    endNumber >= startNumber
      ? endNumber - startNumber + 1
      : // A rounding error in the stated durations doesn't count as a segment.
        Math.max(1, Math.ceil((total ?? 0) / duration - 1e-3));
  table.assertRoom(count);
  return Array.from({ length: count }, (_, index) => {
    const rest = total === null ? duration : total - index * duration;
    return { index, time: index * duration, duration: rest > 0 ? Math.min(duration, rest) : duration };
  });
}

function timelineTimes(
  timeline: ManifestElement,
  { timescale, periodSeconds, offset, table }: TimeLimits,
): Timed[] {
  const times: Timed[] = [];
  const runs = childrenOf(timeline, 'S');
  let time = 0;
  for (const [index, { attributes }] of runs.entries()) {
    time = readCount(attributes['t'], time);
    const duration = readCount(attributes['d']);
    if (duration === 0) throw invalid('sent a manifest with a segment of zero duration');
    const repeats = Number(attributes['r'] ?? 0);
    const next = runs[index + 1]?.attributes['t'];
    const end = next === undefined ? offset + (periodSeconds ?? NaN) * timescale : Number(next);
    const count = repeats < 0 ? Math.ceil((end - time) / duration) : repeats + 1;
    if (!(count >= 1)) throw invalid('sent a manifest with contradictory times');
    table.assertRoom(times.length + count);
    for (let repeat = 0; repeat < count; repeat += 1) {
      times.push({ index: times.length, time, duration });
      time += duration;
    }
  }
  return times;
}

/**
 * Periods may list the same segments. Each plays only those in its own time. If they don't fill it, the
 * times don't count from its offset, and it plays all.
 */
function ownSegments(
  all: readonly Timed[],
  { start, end, leastTicks }: { start: number; end: number; leastTicks: number },
): readonly Timed[] {
  const own = all.filter(({ time, duration }) => time + duration > start && time < end);
  const ticks = own.reduce((sum, { duration }) => sum + duration, 0);
  const longest = own.reduce((most, { duration }) => Math.max(most, duration), 0);
  return own.length > 0 && ticks + longest >= leastTicks ? own : all;
}

function readRange(range: string | undefined): ByteWindow | null {
  if (range === undefined) return null;
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(range);
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (!(end >= start)) throw invalid('sent a manifest with an invalid byte range');
  return { start, end };
}

/** `$Number%05d$` and the like (ISO/IEC 23009-1, 5.3.9.4.4). */
function fillTemplate(
  pattern: string,
  { id, bandwidth }: Representation,
  number: number,
  time: number,
): string {
  if (pattern.length > maxUrlLength) throw invalid('sent a manifest with a template that is too long');
  const values: Readonly<Record<string, string | number>> = {
    RepresentationID: id,
    Bandwidth: bandwidth,
    Number: number,
    Time: time,
  };
  let length = pattern.length;
  return pattern.replaceAll(
    /\$(?:([A-Za-z]{1,20})(?:%0(\d{1,2})d)?)?\$/g,
    (whole, name?: string, width?: string) => {
      if (name === undefined) return '$';
      const value = values[name];
      const filled = value === undefined ? whole : String(value).padStart(Number(width ?? 0), '0');
      length += filled.length - whole.length;
      if (length > maxUrlLength) throw invalid('sent a URL that is too long');
      return filled;
    },
  );
}
