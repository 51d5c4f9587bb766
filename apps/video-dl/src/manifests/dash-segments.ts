import type { Attributes, ManifestElement } from './dash-manifest.js';
import { invalid, notJoinable, protectedByDrm } from '../formats/rejection.js';
import {
  maxUrlLength,
  resolveUrl,
  SegmentTableWriter,
  type ByteWindow,
  type SegmentTable,
} from './segment-table.js';

/** The Representation that the extractor chose. */
export interface WantedTrack {
  /** yt-dlp's format id: the Representation's id, possibly with a name before it and a number after it. */
  readonly formatId: string;
  readonly kind: 'video' | 'audio' | null;
  /** Bits per second. */
  readonly bandwidth: number | null;
}

export interface DashTrack {
  readonly kind: 'video' | 'audio';
  readonly table: SegmentTable;
}

interface Representation {
  readonly kind: 'video' | 'audio' | 'other';
  readonly id: string;
  readonly bandwidth: number;
  readonly smallerSide: number | null;
  readonly baseUrl: string;
  /** Period, AdaptationSet, Representation: an inner level overrides the outer ones. */
  readonly levels: readonly ManifestElement[];
  readonly isProtected: boolean;
}

interface Period {
  /** Null if not stated. */
  readonly seconds: number | null;
  readonly representations: readonly Representation[];
}

/** How much a manifest's stated duration may exceed that of its segments, in addition to two segments. */
const lengthToleranceSeconds = 1;
/** As much as a track may lack of its stated length. */
const maxAbsentSeconds = 0.5;

/**
 * The tracks to read, each with its segments of all periods: the wanted track, or else
 * the best video and the best audio without protection.
 * @throws Rejection when they can't be listed, or have more than `maxSegments` segments
 */
export function dashTracks(
  mpd: ManifestElement,
  { url, wanted, maxSegments }: { url: string; wanted: WantedTrack | null; maxSegments: number },
): DashTrack[] {
  const periods = periodsOf(mpd, url);
  const total = readDuration(mpd.attributes['mediaPresentationDuration']);
  return choose(periods, wanted).map((track) => ({
    kind: track.kind === 'video' ? 'video' : 'audio',
    table: segmentsOf(periods, track, { maxSegments, totalSeconds: total }),
  }));
}

function choose(periods: readonly Period[], wanted: WantedTrack | null): Representation[] {
  const all = periods.flatMap(({ representations }) => representations);
  const named = wanted === null ? undefined : representationNamed(all, wanted);
  if (named?.isProtected === true) throw protectedByDrm();
  if (named !== undefined) return [named];
  const [first] = periods;
  const offered = first?.representations ?? [];
  const clear = offered.filter(({ isProtected }) => !isProtected);
  const chosen = [best(clear, 'video'), best(clear, 'audio')].flatMap((found) => found ?? []);
  if (chosen.length > 0) return chosen;
  throw offered.length > 0 ? protectedByDrm() : notJoinable('has neither audio nor video in its manifest');
}

/**
 * The Representation for a format of yt-dlp. Several ids may be a suffix of the format id (`1` and
 * `a-1` in `dash-a-1`), and two periods may use one id for different things. So the kind must match,
 * then the longest id wins, then the closest bandwidth.
 */
function representationNamed(
  all: readonly Representation[],
  { formatId, kind, bandwidth }: WantedTrack,
): Representation | undefined {
  // yt-dlp numbers formats with the same id.
  const names = [formatId, formatId.replace(/-\d{1,3}$/, '')];
  const matching = all.filter(
    (each) =>
      each.kind !== 'other' &&
      (kind === null || each.kind === kind) &&
      each.id !== '' &&
      names.some((name) => name === each.id || name.endsWith(`-${each.id}`)),
  );
  const distance = (each: Representation) => (bandwidth === null ? 0 : Math.abs(each.bandwidth - bandwidth));
  return matching.toSorted((a, b) => b.id.length - a.id.length || distance(a) - distance(b))[0];
}

/** The track's equivalent in another period: same kind and id, or else the most similar one of its kind. */
function counterpart(track: Representation, { representations }: Period): Representation {
  const ofKind = representations.filter(({ kind }) => kind === track.kind);
  const clear = ofKind.filter(({ isProtected }) => !isProtected);
  const difference = (each: Representation): number =>
    each.id === track.id && each.id !== ''
      ? -1
      : Math.abs((each.smallerSide ?? 0) - (track.smallerSide ?? 0)) * 1e9 +
        Math.abs(each.bandwidth - track.bandwidth);
  const [closest] = (clear.length > 0 ? clear : ofKind).toSorted((a, b) => difference(a) - difference(b));
  if (closest === undefined) throw notJoinable('lacks a track in one of its periods');
  if (closest.isProtected) throw protectedByDrm();
  return closest;
}

function segmentsOf(
  periods: readonly Period[],
  track: Representation,
  { maxSegments, totalSeconds }: { maxSegments: number; totalSeconds: number | null },
): SegmentTable {
  const output = new TrackWriter(maxSegments);
  for (const period of periods) output.addPeriod(counterpart(track, period), period.seconds);
  if (output.table.length === 0) throw invalid('listed no segments');
  const { seconds, longestSeconds } = output;
  const missing = totalSeconds === null || seconds === null ? 0 : totalSeconds - seconds;
  if (missing > 2 * longestSeconds + lengthToleranceSeconds)
    throw invalid("listed fewer segments than its manifest's stated duration requires");
  return output.table.finish();
}

function periodsOf(mpd: ManifestElement, manifestUrl: string): Period[] {
  const total = readDuration(mpd.attributes['mediaPresentationDuration']);
  const elements = childrenOf(mpd, 'Period');
  const baseUrl = baseUrlOf(mpd, resolveUrl('', manifestUrl));
  // Without a start, a period begins where the one before it ends (5.3.2.1).
  let previousEnd: number | null = 0;
  const periods = elements.map((period, index) => {
    const start = readDuration(period.attributes['start']) ?? previousEnd;
    const next = elements[index + 1];
    const end = next === undefined ? total : readDuration(next.attributes['start']);
    const between = end === null || start === null ? null : end - start;
    const seconds = readDuration(period.attributes['duration']) ?? between;
    previousEnd = start === null || seconds === null ? null : start + seconds;
    return {
      seconds,
      representations: representationsOf(period, baseUrlOf(period, baseUrl)),
    };
  });
  // An empty period marks the end of a former live stream, or the place of an ad.
  return periods.filter(({ representations }) => representations.length > 0);
}

function representationsOf(period: ManifestElement, periodBase: string): Representation[] {
  return childrenOf(period, 'AdaptationSet').flatMap((set) => {
    const setBase = baseUrlOf(set, periodBase);
    return childrenOf(set, 'Representation').map((representation) => {
      const own = representation.attributes;
      const of = (name: string) => own[name] ?? set.attributes[name];
      const [width, height] = [Number(of('width')), Number(of('height'))];
      const levels = [period, set, representation];
      return {
        kind: kindOf(of('contentType'), of('mimeType'), of('width')),
        id: own['id'] ?? '',
        bandwidth: Number(of('bandwidth')) || 0,
        smallerSide: width > 0 && height > 0 ? Math.min(width, height) : null,
        baseUrl: baseUrlOf(representation, setBase),
        levels,
        isProtected: levels.some((level) => childrenOf(level, 'ContentProtection').length > 0),
      };
    });
  });
}

function kindOf(
  contentType: string | undefined,
  mimeType: string | undefined,
  width: string | undefined,
): Representation['kind'] {
  const type = contentType ?? mimeType?.split('/', 1)[0];
  if (type === 'video' || type === 'audio') return type;
  return type === undefined && width !== undefined ? 'video' : 'other';
}

function best(all: readonly Representation[], kind: 'video' | 'audio'): Representation | undefined {
  const ofKind = all.filter((representation) => representation.kind === kind);
  const fitting = ofKind.filter(({ smallerSide }) => smallerSide === null || smallerSide <= 1080);
  return (fitting.length > 0 ? fitting : ofKind).toSorted((a, b) => b.bandwidth - a.bandwidth)[0];
}

/** Adds the segments of one track, period by period. */
class TrackWriter {
  readonly table: SegmentTableWriter;
  /** Null if a segment's duration isn't stated. */
  seconds: number | null = 0;
  longestSeconds = 0;
  #isPeriodNew = false;

  constructor(maxSegments: number) {
    this.table = new SegmentTableWriter(maxSegments);
  }

  addPeriod(representation: Representation, periodSeconds: number | null): void {
    this.table.setBaseUrl(representation.baseUrl);
    this.#isPeriodNew = this.table.length > 0;
    const of = (name: string): ManifestElement | null => inherited(representation.levels, name);
    const template = of('SegmentTemplate');
    if (template !== null) {
      this.#addTemplate(template, representation, periodSeconds);
      return;
    }
    const list = of('SegmentList');
    if (list !== null) this.#addList(list, periodSeconds);
    // SegmentBase or nothing: a single file with its own index.
    else this.#add('', null, null, periodSeconds);
  }

  #add(
    reference: string,
    range: ByteWindow | null,
    initialisation: number | null,
    seconds: number | null,
    mayBeAbsent = false,
  ): void {
    this.table.add({
      reference,
      range,
      initialisation,
      seconds,
      key: null,
      sequence: 0,
      isRounded: false,
      isDiscontinuity: this.#isPeriodNew,
      mayBeAbsent,
    });
    this.#isPeriodNew = false;
    this.seconds = this.seconds === null || seconds === null ? null : this.seconds + seconds;
    this.longestSeconds = Math.max(this.longestSeconds, seconds ?? 0);
  }

  #addTemplate(template: ManifestElement, track: Representation, periodSeconds: number | null): void {
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
    const offset = readCount(attributes['presentationTimeOffset'], 0);
    const limits = { timescale, periodSeconds, offset, maxSegments: this.table.room };
    const times =
      timeline === undefined
        ? constantTimes(attributes, startNumber, limits)
        : timelineTimes(timeline, limits);
    let number = startNumber;
    for (const [index, { time, duration }] of times.entries()) {
      const seconds = duration / timescale;
      // Without a timeline, the shorter track of a period may have one segment less.
      const isExtra = timeline === undefined && index > 0 && index === times.length - 1;
      const mayBeAbsent = isExtra && attributes['endNumber'] === undefined && seconds <= maxAbsentSeconds;
      this.#add(fillTemplate(media, track, number, time), null, initialisation, seconds, mayBeAbsent);
      number += 1;
    }
  }

  #addList(list: ManifestElement, periodSeconds: number | null): void {
    const [first] = childrenOf(list, 'Initialization');
    const initialisation =
      first === undefined
        ? null
        : this.table.addInitialisation(
            first.attributes['sourceURL'] ?? '',
            readRange(first.attributes['range']),
            null,
          );
    const duration = Number(list.attributes['duration']);
    const timescale = readCount(list.attributes['timescale'], 1) || 1;
    const seconds = duration > 0 ? duration / timescale : null;
    const urls = childrenOf(list, 'SegmentURL');
    for (const [index, { attributes }] of urls.entries()) {
      const isLast = index === urls.length - 1;
      const rest = periodSeconds === null || seconds === null ? null : periodSeconds - index * seconds;
      const lastSeconds = rest === null || seconds === null || rest <= 0 ? null : Math.min(rest, seconds);
      const ownSeconds = isLast ? lastSeconds : seconds;
      this.#add(attributes['media'] ?? '', readRange(attributes['mediaRange']), initialisation, ownSeconds);
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
  /** Ticks. */
  readonly time: number;
  readonly duration: number;
}

interface TimeLimits {
  readonly timescale: number;
  readonly periodSeconds: number | null;
  /** The time at which the period starts, in ticks. */
  readonly offset: number;
  readonly maxSegments: number;
}

function constantTimes(
  attributes: Attributes,
  startNumber: number,
  { timescale, periodSeconds, maxSegments }: TimeLimits,
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
  if (!(count <= maxSegments)) throw invalid('listed too many segments');
  return Array.from({ length: count }, (_, index) => {
    const rest = total === null ? duration : total - index * duration;
    return { time: index * duration, duration: rest > 0 ? Math.min(duration, rest) : duration };
  });
}

function timelineTimes(
  timeline: ManifestElement,
  { timescale, periodSeconds, offset, maxSegments }: TimeLimits,
): Timed[] {
  const times: Timed[] = [];
  const runs = childrenOf(timeline, 'S');
  let time = 0;
  for (const [index, { attributes }] of runs.entries()) {
    time = readCount(attributes['t'], time);
    const duration = readCount(attributes['d'], 0);
    if (duration === 0) throw invalid('sent a manifest with a segment of zero duration');
    const repeats = Number(attributes['r'] ?? 0);
    const next = runs[index + 1]?.attributes['t'];
    const end = next === undefined ? offset + (periodSeconds ?? NaN) * timescale : Number(next);
    const count = repeats < 0 ? Math.ceil((end - time) / duration) : repeats + 1;
    if (!(count >= 1) || !(times.length + count <= maxSegments)) throw invalid('listed too many segments');
    for (let repeat = 0; repeat < count; repeat += 1) {
      times.push({ time, duration });
      time += duration;
    }
  }
  return times;
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

function childrenOf(element: ManifestElement, name: string): ManifestElement[] {
  return element.children.filter((child) => child.name === name);
}

function baseUrlOf(element: ManifestElement, outer: string): string {
  const text = element.children.find(({ name }) => name === 'BaseURL')?.text.trim();
  return text === undefined || text === '' ? outer : resolveUrl(text, outer);
}

/** Parses a non-negative integer. */
function readCount(value: string | undefined, otherwise: number): number {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : otherwise;
}

/** Seconds of an `xs:duration` such as `PT1H2M3.5S`; null for years and months, whose lengths vary. */
function readDuration(duration: string | undefined): number | null {
  if (duration === undefined || duration.length > 64) return null;
  const match = /^P(?:0+Y)?(?:0+M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
    duration,
  );
  if (!match) return null;
  const [, days = 0, hours = 0, minutes = 0, rest = 0] = match.map((value) => Number(value || 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + rest;
}
