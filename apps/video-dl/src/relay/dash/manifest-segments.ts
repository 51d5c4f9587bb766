import { brokenRules } from '../../upstream/transfer-fault.js';
import { notJoinable } from '../join/joiner.js';
import { resolveUrl, type MediaPart, type Segment, type SegmentList } from '../segment-list.js';
import type { ManifestElement } from './read-manifest.js';

/** What one Representation is chosen by. */
export interface DashTrack {
  readonly kind: 'video' | 'audio';
  readonly id: string;
}

interface Context {
  readonly maxSegments: number;
  /** Seconds; null where nothing says it. */
  readonly periodSeconds: number | null;
}

interface Representation {
  readonly kind: 'video' | 'audio' | 'other';
  readonly id: string;
  readonly bandwidth: number;
  readonly smallerSide: number | null;
  readonly baseUrl: string;
  /** Period, AdaptationSet, Representation: what the inner one says goes before the outer. */
  readonly levels: readonly ManifestElement[];
}

/**
 * The Representations to read: the one that yt-dlp's format is named after, else
 * the best video and the best audio.
 * @param formatId yt-dlp's: the id of the Representation, perhaps with the manifest's name in front
 */
export function chooseTracks(
  mpd: ManifestElement,
  manifestUrl: string,
  formatId: string | undefined,
): DashTrack[] {
  const [period] = childrenOf(mpd, 'Period');
  const all = period === undefined ? [] : representationsOf(mpd, period, manifestUrl);
  const named = all.find(({ id }) => id !== '' && (formatId === id || formatId?.endsWith(`-${id}`) === true));
  if (named !== undefined && named.kind !== 'other') return [{ kind: named.kind, id: named.id }];
  const chosen = [best(all, 'video'), best(all, 'audio')].flatMap((found) => found ?? []);
  if (chosen.length === 0) throw notJoinable('has neither sound nor pictures in its manifest');
  return chosen.map(({ kind, id }) => ({ kind: kind === 'video' ? 'video' : 'audio', id }));
}

/**
 * The segments of one track, over all periods.
 * @throws TransferFault for what cannot be a list of at most `maxSegments`
 */
export function segmentsOf(
  mpd: ManifestElement,
  manifestUrl: string,
  { kind, id }: DashTrack,
  maxSegments: number,
): SegmentList {
  const segments: Segment[] = [];
  for (const [index, { period, seconds }] of periodsOf(mpd).entries()) {
    const all = representationsOf(mpd, period, manifestUrl);
    const representation = all.find((other) => other.kind === kind && other.id === id) ?? best(all, kind);
    if (representation === undefined) throw notJoinable('lacks a track in a part of it');
    const list = expand(representation, {
      maxSegments: maxSegments - segments.length,
      periodSeconds: seconds,
    });
    for (const segment of list)
      segments.push(segment === list[0] && index > 0 ? { ...segment, isDiscontinuity: true } : segment);
  }
  if (segments.length === 0) throw brokenRules('names no segments');
  return segments;
}

function periodsOf(mpd: ManifestElement): { period: ManifestElement; seconds: number | null }[] {
  const total = readDuration(mpd.attributes['mediaPresentationDuration']);
  const periods = childrenOf(mpd, 'Period');
  return periods.map((period, index) => {
    const start = readDuration(period.attributes['start']);
    const next = periods[index + 1];
    const end = next === undefined ? total : readDuration(next.attributes['start']);
    const isFirst = index === 0;
    const between = end === null || (start === null && !isFirst) ? null : end - (start ?? 0);
    return { period, seconds: readDuration(period.attributes['duration']) ?? between };
  });
}

function representationsOf(
  mpd: ManifestElement,
  period: ManifestElement,
  manifestUrl: string,
): Representation[] {
  const periodBase = baseUrlOf(period, baseUrlOf(mpd, manifestUrl));
  return childrenOf(period, 'AdaptationSet').flatMap((set) => {
    const setBase = baseUrlOf(set, periodBase);
    return childrenOf(set, 'Representation').map((representation) => {
      const attributes = { ...set.attributes, ...representation.attributes };
      const [width, height] = [Number(attributes['width']), Number(attributes['height'])];
      return {
        kind: kindOf(attributes),
        id: representation.attributes['id'] ?? '',
        bandwidth: Number(attributes['bandwidth']) || 0,
        smallerSide: width > 0 && height > 0 ? Math.min(width, height) : null,
        baseUrl: baseUrlOf(representation, setBase),
        levels: [period, set, representation],
      };
    });
  });
}

function kindOf({ contentType, mimeType, width }: Readonly<Record<string, string>>): Representation['kind'] {
  const type = contentType ?? mimeType?.split('/', 1)[0];
  if (type === 'video' || type === 'audio') return type;
  return type === undefined && width !== undefined ? 'video' : 'other';
}

function best(all: readonly Representation[], kind: 'video' | 'audio'): Representation | undefined {
  const ofKind = all.filter((representation) => representation.kind === kind);
  const fitting = ofKind.filter(({ smallerSide }) => smallerSide === null || smallerSide <= 1080);
  return (fitting.length > 0 ? fitting : ofKind).toSorted((a, b) => b.bandwidth - a.bandwidth)[0];
}

function expand(representation: Representation, context: Context): Segment[] {
  const of = (name: string): ManifestElement | null => inherited(representation.levels, name);
  const template = of('SegmentTemplate');
  if (template !== null) return fromTemplate(template, representation, context);
  const list = of('SegmentList');
  if (list !== null) return fromList(list, representation, context);
  // SegmentBase or nothing: the file itself, which has its own index.
  if (context.maxSegments < 1) throw tooMany();
  return [segment({ url: representation.baseUrl, range: null }, null, context.periodSeconds)];
}

/** An element as all levels together state it. */
function inherited(levels: readonly ManifestElement[], name: string): ManifestElement | null {
  const found = levels.flatMap((level) => childrenOf(level, name).slice(0, 1));
  const innermost = found.at(-1);
  if (innermost === undefined) return null;
  const children = found.toReversed().find((element) => element.children.length > 0)?.children ?? [];
  const attributes = Object.assign({}, ...found.map((element) => element.attributes)) as Record<
    string,
    string
  >;
  return { ...innermost, attributes, children };
}

function fromTemplate(
  template: ManifestElement,
  representation: Representation,
  context: Context,
): Segment[] {
  const { attributes } = template;
  const media = attributes['media'];
  if (media === undefined) throw brokenRules('sent a manifest with a template that names nothing');
  const fill = (pattern: string, number: number, time: number): string =>
    resolveUrl(fillTemplate(pattern, representation, number, time), representation.baseUrl);
  const initialisation =
    attributes['initialization'] === undefined
      ? null
      : { url: fill(attributes['initialization'], 0, 0), range: null };
  const startNumber = readCount(attributes['startNumber'], 1);
  const timescale = readCount(attributes['timescale'], 1) || 1;
  const [timeline] = childrenOf(template, 'SegmentTimeline');
  const times =
    timeline === undefined
      ? constantTimes(template, timescale, context)
      : timelineTimes(timeline, timescale, context);
  return times.map(({ time, duration }, index) => {
    const url = fill(media, startNumber + index, time);
    return segment({ url, range: null }, initialisation, duration / timescale);
  });
}

interface Timed {
  /** Ticks. */
  readonly time: number;
  readonly duration: number;
}

function constantTimes(
  template: ManifestElement,
  timescale: number,
  { periodSeconds, maxSegments }: Context,
): Timed[] {
  const duration = Number(template.attributes['duration']);
  if (!(duration > 0) || periodSeconds === null || !(periodSeconds > 0))
    throw brokenRules('sent a manifest that does not say how many segments there are');
  const total = periodSeconds * timescale;
  // A rounding error of the stated durations makes no segment of its own.
  const count = Math.max(1, Math.ceil(total / duration - 1e-3));
  if (!(count <= maxSegments)) throw tooMany();
  return Array.from({ length: count }, (_, index) => ({
    time: index * duration,
    duration: Math.min(duration, total - index * duration),
  }));
}

function timelineTimes(
  timeline: ManifestElement,
  timescale: number,
  { periodSeconds, maxSegments }: Context,
): Timed[] {
  const times: Timed[] = [];
  const runs = childrenOf(timeline, 'S');
  let time = 0;
  for (const [index, { attributes }] of runs.entries()) {
    time = readCount(attributes['t'], time);
    const duration = readCount(attributes['d'], 0);
    if (duration === 0) throw brokenRules('sent a manifest with a segment that lasts no time');
    const repeats = Number(attributes['r'] ?? 0);
    const next = runs[index + 1]?.attributes['t'];
    const end = next === undefined ? (periodSeconds ?? NaN) * timescale : Number(next);
    const count = repeats < 0 ? Math.ceil((end - time) / duration) : repeats + 1;
    if (!(count >= 1) || !(times.length + count <= maxSegments)) throw tooMany();
    for (let repeat = 0; repeat < count; repeat += 1) {
      times.push({ time, duration });
      time += duration;
    }
  }
  return times;
}

function fromList(list: ManifestElement, { baseUrl }: Representation, context: Context): Segment[] {
  const urls = childrenOf(list, 'SegmentURL');
  if (urls.length > context.maxSegments) throw tooMany();
  const [first] = childrenOf(list, 'Initialization');
  const initialisation = first === undefined ? null : part(first.attributes, 'sourceURL', 'range', baseUrl);
  const duration = Number(list.attributes['duration']);
  const timescale = readCount(list.attributes['timescale'], 1) || 1;
  const seconds = duration > 0 ? duration / timescale : null;
  return urls.map(({ attributes }, index) => {
    // The last one is as long as what is left.
    const isLast = index === urls.length - 1;
    return segment(part(attributes, 'media', 'mediaRange', baseUrl), initialisation, isLast ? null : seconds);
  });
}

function part(
  attributes: Readonly<Record<string, string>>,
  urlName: string,
  rangeName: string,
  baseUrl: string,
): MediaPart {
  const range = attributes[rangeName];
  const match = range === undefined ? null : /^(\d{1,15})-(\d{1,15})$/.exec(range);
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (range !== undefined && !(end >= start)) throw brokenRules('sent a manifest with an invalid byte range');
  const url = attributes[urlName];
  return {
    url: url === undefined ? baseUrl : resolveUrl(url, baseUrl),
    range: match ? { start, end } : null,
  };
}

function segment(media: MediaPart, initialisation: MediaPart | null, seconds: number | null): Segment {
  return {
    ...media,
    key: null,
    initialisation: initialisation === null ? null : { ...initialisation, key: null },
    seconds,
    isRounded: false,
    isDiscontinuity: false,
  };
}

/** `$Number%05d$` and the like (ISO/IEC 23009-1, 5.3.9.4.4). */
function fillTemplate(
  pattern: string,
  { id, bandwidth }: Representation,
  number: number,
  time: number,
): string {
  if (pattern.length > 2048) throw brokenRules('sent a manifest with a template that is too long');
  const values: Readonly<Record<string, string | number>> = {
    RepresentationID: id,
    Bandwidth: bandwidth,
    Number: number,
    Time: time,
  };
  return pattern.replaceAll(
    /\$(?:([A-Za-z]{1,20})(?:%0(\d{1,2})d)?)?\$/g,
    (whole, name?: string, width?: string) => {
      if (name === undefined) return '$';
      const value = values[name];
      return value === undefined ? whole : String(value).padStart(Number(width ?? 0), '0');
    },
  );
}

function childrenOf(element: ManifestElement, name: string): ManifestElement[] {
  return element.children.filter((child) => child.name === name);
}

function baseUrlOf(element: ManifestElement, outer: string): string {
  const text = childrenOf(element, 'BaseURL')[0]?.text.trim();
  return text === undefined || text === '' ? outer : resolveUrl(text, outer);
}

/** A whole number that is not negative. */
function readCount(value: string | undefined, otherwise: number): number {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : otherwise;
}

/** Seconds of an `xs:duration` without years and months, such as `PT1H2M3.5S`. */
function readDuration(duration: string | undefined): number | null {
  if (duration === undefined || duration.length > 64) return null;
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(duration);
  if (!match) return null;
  const [, days = 0, hours = 0, minutes = 0, rest = 0] = match.map((value) => Number(value || 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + rest;
}

function tooMany() {
  return brokenRules('names too many segments');
}
