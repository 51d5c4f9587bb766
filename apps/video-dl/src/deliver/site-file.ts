import { createHash } from 'node:crypto';
import type { Span } from '../formats/mp4/remux/sample-tables.js';
import type { Facts } from '../look/look.js';
import type { Plan } from '../plan/plan.js';
import type { RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
import { formats, type StreamFormat } from './response.js';

/** A file of the site that is already what the client requested, but for the bytes to send as 0. */
export interface SiteFile {
  readonly object: RemoteObject;
  readonly format: StreamFormat;
  readonly totalBytes: number;
  /** Strong: the same tag means the same bytes. Null if the site's server provides no strong one. */
  readonly etag: string | null;
  /** Bytes that are sent as 0, in the order of the file. */
  readonly zeroed: readonly Span[];
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
  const { identity, totalBytes, zeroed } = head;
  const { strongEtag } = identity;
  const etag =
    strongEtag === undefined
      ? null
      : `"${digest(strongEtag, String(totalBytes), ...zeroed.map(({ start }) => String(start)))}"`;
  const object = upstream.object(source, renew, identity);
  return { format: formats[found], object, totalBytes, etag, zeroed };
}

/** @param at where the chunk begins in the file. @returns a copy if some of it changes */
export function withZeroed(chunk: Buffer, at: number, zeroed: readonly Span[]): Buffer {
  const hit = zeroed.filter(({ start, end }) => start < at + chunk.length && at < end);
  if (hit.length === 0) return chunk;
  const copy = Buffer.from(chunk);
  for (const { start, end } of hit) copy.fill(0, Math.max(0, start - at), Math.min(copy.length, end - at));
  return copy;
}

/** A hash, so that the site's validators never reach a client. */
export function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 27);
}
