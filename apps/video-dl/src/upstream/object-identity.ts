import type { UpstreamResponse } from './upstream-request.js';

/** What distinguishes one version of an object from another. */
interface Validators {
  readonly total: number | null;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Whether `lastModified` is only the time of the response, as scripts send it. */
  readonly isClock: boolean;
}

/** A `Last-Modified` as close to `Date` as this is no strong validator (RFC 9110 §8.8.2.2). */
const clockMs = 2_000;

/**
 * Remembers the version of an object in the first response, so that bytes of two
 * versions are never joined (RFC 9110 §8.8, §13.1.5).
 */
export class ObjectIdentity {
  #known: Validators = { total: null, etag: undefined, lastModified: undefined, isClock: false };
  #isSeen = false;
  /** Load-balanced servers may each have their own ETag for the same file. */
  #etagVaries = false;

  /** Size of the whole object in bytes, null while unknown. */
  get total(): number | null {
    return this.#known.total;
  }

  /** Whether a response arrived without a size, an ETag or a date, so that the version can't be checked. */
  get hasNoValidators(): boolean {
    const { total, etag, lastModified, isClock } = this.#known;
    const hasDate = lastModified !== undefined && !isClock;
    return this.#isSeen && total === null && etag === undefined && !hasDate;
  }

  /** For `If-Range`, which requires a strong validator. */
  get strongEtag(): string | undefined {
    const { etag } = this.#known;
    return !this.#etagVaries && isStrong(etag) ? etag : undefined;
  }

  /**
   * Compares a response with earlier ones and remembers what it adds.
   * @returns what differs, or null
   */
  mismatch(response: UpstreamResponse, total: number | null): 'size' | 'version' | null {
    const known = this.#known;
    const seen = validatorsOf(response, total);
    if (differ(known.total, seen.total)) return 'size';
    const isSameSize = known.total !== null && known.total === seen.total;
    const isSameTag = isStrong(known.etag) && known.etag === seen.etag;
    // The times of two responses always differ, and say nothing about the file.
    const areClocks = isSameSize && known.isClock && seen.isClock;
    if (differ(known.lastModified, seen.lastModified) && !isSameTag && !areClocks) return 'version';
    if (differ(opaque(known.etag), opaque(seen.etag))) {
      const isSameDate = known.lastModified !== undefined && known.lastModified === seen.lastModified;
      if (!isSameDate || known.isClock || !isSameSize) return 'version';
      this.#etagVaries = true;
    }
    this.#isSeen = true;
    const dated = known.lastModified === undefined ? seen : known;
    this.#known = {
      total: known.total ?? seen.total,
      etag: known.etag ?? seen.etag,
      lastModified: dated.lastModified,
      isClock: dated.isClock,
    };
    return null;
  }
}

function validatorsOf(response: UpstreamResponse, total: number | null): Validators {
  const lastModified = response.header('last-modified');
  const ageMs = Date.parse(response.header('date') ?? '') - Date.parse(lastModified ?? '');
  return { total, etag: response.header('etag'), lastModified, isClock: Math.abs(ageMs) <= clockMs };
}

function differ<T>(known: T | null | undefined, seen: T | null | undefined): boolean {
  return known !== null && known !== undefined && seen !== null && seen !== undefined && known !== seen;
}

function isStrong(etag: string | undefined): boolean {
  return etag?.startsWith('"') === true;
}

/** A proxy that compresses makes the validator weak, but it still identifies the same version. */
function opaque(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}
