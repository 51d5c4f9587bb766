import { createHash } from 'node:crypto';
import type { Facts } from '../look/look.js';
import type { Plan } from '../plan/plan.js';
import type { RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
import { formats, type StreamFormat } from './response.js';

/** A file of the site that is already what the client requested. */
export interface SiteFile {
  readonly object: RemoteObject;
  readonly format: StreamFormat;
  readonly totalBytes: number;
  /** Strong: the same tag means the same bytes. Null if the site's server provides no strong one. */
  readonly etag: string | null;
}

/** The site's file if, by its own bytes, it is what the plan may send unchanged. */
export function siteFileOf(
  { inputs: [source], siteFile, expected }: Plan,
  facts: Facts,
  { upstream, renew }: { readonly upstream: Upstream; readonly renew: RenewSource },
): SiteFile | undefined {
  if (source === undefined || siteFile === null || expected.clip !== null) return undefined;
  const head = facts.get(source)?.head;
  // Without a length, a client can't see that the file is complete.
  if (head === undefined || head.totalBytes === null) return undefined;
  const found = siteFile === 'audio' ? head.audioFile : head.original === siteFile ? head.original : null;
  if (found === null) return undefined;
  const { identity, totalBytes } = head;
  const { strongEtag } = identity;
  const etag = strongEtag === undefined ? null : `"${digest(strongEtag, String(totalBytes))}"`;
  return { format: formats[found], object: upstream.object(source, renew, identity), totalBytes, etag };
}

/** A hash, so that the site's validators never reach a client. */
export function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 27);
}
