import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The range headers of a request (RFC 9110 §13.1.5, §14.2). */
export interface RangeHeaders {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

/** Bytes of a file. Both ends are inclusive. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Null for all bytes. */
type Selection = Part | null | 'unsatisfiable';

/**
 * The bytes of a file that a request gets. Multiple ranges, unknown units and invalid
 * headers get the whole file, as RFC 9110 §14.2 allows. So does a range of an outdated
 * version.
 *
 * @param etag the current version's strong validator; null if it has none
 */
export function selectRange(
  { range, ifRange }: RangeHeaders,
  { totalBytes, etag }: VersionedFile,
): Selection {
  if (ifRange !== undefined && (etag === null || ifRange.trim() !== etag)) return null;
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), totalBytes);
    return length === 0 ? 'unsatisfiable' : { start: totalBytes - length, end: totalBytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? totalBytes - 1 : Math.min(Number(last), totalBytes - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= totalBytes ? 'unsatisfiable' : { start, end };
}

const maxRemembered = 10_000;

/**
 * The version of each stream that this process sent to each client. Clients that resume
 * without `If-Range` don't say which version they hold.
 */
export class SentVersions {
  /** Empty if the client got more than one version, because it may hold either. */
  readonly #versions = new LRUCache<string, string>({ max: maxRemembered });

  /** Whether this process sent the client this version and no other. */
  holds(request: SentTo, version: string): boolean {
    return this.#versions.get(keyOf(request)) === version;
  }

  /** The bytes that a request gets; all of them if its client may hold the beginning of another version. */
  select(request: SentTo & RangeHeaders, file: VersionedFile): Selection {
    const selection = selectRange(request, file);
    const isRest = selection !== null && selection !== 'unsatisfiable' && selection.start > 0;
    // Another replica may have sent the beginning, from another version of the file.
    if (isRest && request.ifRange === undefined && !this.holds(request, versionOf(file))) return null;
    this.remember(request, versionOf(file));
    return selection;
  }

  remember(request: SentTo, version: string): void {
    const key = keyOf(request);
    const sent = this.#versions.get(key);
    this.#versions.set(key, sent === undefined || sent === version ? version : '');
  }
}

interface VersionedFile {
  readonly totalBytes: number;
  readonly etag: string | null;
}

export function versionOf({ etag, totalBytes }: VersionedFile): string {
  return etag ?? String(totalBytes);
}

interface SentTo {
  readonly client: string;
  readonly url: string;
  readonly target: string;
  readonly language?: string | undefined;
}

/** A hash keeps the keys short. */
function keyOf({ client, url, target, language }: SentTo): string {
  return createHash('sha256')
    .update(JSON.stringify([client, target, url, language]))
    .digest('base64url');
}
