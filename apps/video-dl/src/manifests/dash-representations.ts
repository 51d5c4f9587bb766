import { childrenOf, type ManifestElement } from './dash-manifest.js';
import { notJoinable, protectedByDrm } from '../formats/rejection.js';
import { resolveUrl } from './segment-table.js';

/** What is known of the Representation that the extractor chose, or of one in another period. */
export interface WantedTrack {
  readonly id: string;
  readonly kind: 'video' | 'audio' | 'other';
  /** Bits per second; null if not stated. */
  readonly bandwidth: number | null;
  /** In pixels. */
  readonly smallerSide?: number | null;
}

export interface Representation extends WantedTrack {
  readonly bandwidth: number;
  readonly smallerSide: number | null;
  readonly baseUrl: string;
  /** Period, AdaptationSet, Representation: an inner level overrides the outer ones. */
  readonly levels: readonly ManifestElement[];
  readonly isProtected: boolean;
}

export interface Period {
  /** Null if not stated. */
  readonly seconds: number | null;
  readonly representations: readonly Representation[];
}

/**
 * The track with this id, or else the most similar one of its kind without protection.
 * @throws Rejection if no track of this kind is listed, or only protected ones
 */
export function mostSimilar(
  all: readonly Representation[],
  { id, kind, bandwidth, smallerSide = null }: WantedTrack,
): Representation {
  // Two periods may use one id for different things.
  const ofKind = all.filter((each) => each.kind === kind);
  const named = ofKind.filter((each) => each.id === id && id !== '');
  const clear = ofKind.filter(({ isProtected }) => !isProtected);
  const difference = (each: Representation): number =>
    (smallerSide === null ? 0 : Math.abs((each.smallerSide ?? 0) - smallerSide) * 1e9) +
    (bandwidth === null ? 0 : Math.abs(each.bandwidth - bandwidth));
  const [closest] = (named.length > 0 ? named : clear).toSorted((a, b) => difference(a) - difference(b));
  if (ofKind.length === 0) throw notJoinable(`lacks ${kind} in its manifest or one of its periods`);
  if (closest === undefined || closest.isProtected) throw protectedByDrm();
  return closest;
}

export function periodsOf(mpd: ManifestElement, manifestUrl: string): Period[] {
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
        kind: kindOf(of),
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

function kindOf(attribute: (name: string) => string | undefined): Representation['kind'] {
  const type = attribute('contentType') ?? attribute('mimeType')?.split('/', 1)[0];
  if (type === 'video' || type === 'audio') return type;
  return type === undefined && attribute('width') !== undefined ? 'video' : 'other';
}

function baseUrlOf(element: ManifestElement, outer: string): string {
  const text = element.children.find(({ name }) => name === 'BaseURL')?.text.trim();
  return text === undefined || text === '' ? outer : resolveUrl(text, outer);
}

/** Seconds of an `xs:duration` such as `PT1H2M3.5S`; null for years and months, whose lengths vary. */
export function readDuration(duration: string | undefined): number | null {
  if (duration === undefined || duration.length > 64) return null;
  const match = /^P(?:0+Y)?(?:0+M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
    duration,
  );
  if (!match) return null;
  const [, days = 0, hours = 0, minutes = 0, rest = 0] = match.map((value) => Number(value || 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + rest;
}
