import { createHash } from 'node:crypto';
import { DomainError } from '@media-services/http-common';
import { MatroskaElements } from '../formats/matroska/elements.js';
import type { Span } from '../formats/mp4/remux/sample-tables.js';
import { Mp4Boxes } from '../formats/mp4/top-level-boxes.js';
import { FrameChain } from '../formats/mpeg-audio/frame-chain.js';
import { OggPages } from '../formats/ogg/pages.js';
import { DamagedMediaError, type StructureCheck } from '../formats/structure-check.js';
import type { Facts } from '../look/look.js';
import type { OpenedFile } from '../look/one-shot.js';
import type { SourceHead } from '../look/source-heads.js';
import type { Plan } from '../plan/plan.js';
import { Transfer } from '../upstream/transfer.js';
import type { Part } from './ranges.js';
import { formats, type KnownFile, type StreamFormat } from './response.js';
import { changed, type Piece, type ReadOptions } from './send-file.js';

/** A file of the site that is already what the client requested, but for the bytes to send as 0. */
export interface SiteFile extends KnownFile {
  readonly head: SourceHead;
  readonly format: StreamFormat;
}

/** The site's file if, by its own bytes, it is what the plan may send unchanged. */
export function siteFileOf(
  { inputs: [source], siteFile, expected }: Plan,
  facts: Facts,
): SiteFile | undefined {
  if (source === undefined || siteFile === null || expected.clip !== null) return undefined;
  const head = facts.get(source)?.head;
  // Without a length, a client can't see that the file is complete.
  if (head === undefined || head.totalBytes === null) return undefined;
  const found = siteFile === 'audio' ? head.audioFile : head.original === siteFile ? head.original : null;
  if (found === null) return undefined;
  const { identity, totalBytes, zeroed } = head;
  const etag = etagOf(identity.strongEtag, String(totalBytes), ...zeroed.map(({ start }) => String(start)));
  return { format: formats[found], head, totalBytes, etag, hasRanges: true };
}

/**
 * Reads the file, or a part of it, and checks its structure.
 * @throws DomainError, TransferFault; the signal's reason
 */
export async function* readSiteFile(
  file: SiteFile,
  range: Part | null,
  { upstream, opened, ...options }: ReadOptions & { readonly opened: OpenedFile | undefined },
): AsyncGenerator<Piece, void, void> {
  const { source, identity, zeroed } = file.head;
  const object = upstream.object(source, options, identity);
  const transfer = opened ?? (await Transfer.open(object, range, options.signal));
  try {
    // Two versions of a file may differ only in length.
    if (transfer.total !== file.totalBytes) throw changed();
    const structure = structureOf(file, range === null);
    let at = range?.start ?? 0;
    for await (const chunk of transfer.chunks()) {
      structure?.push(chunk);
      yield { at, bytes: withZeroed(chunk, at, zeroed) };
      at += chunk.length;
    }
    structure?.end?.();
  } catch (error) {
    throw error instanceof DamagedMediaError ? damaged(error) : error;
  } finally {
    transfer.discard();
  }
}

/** The check for a file's format; most can't be checked from the middle. */
function structureOf({ format }: SiteFile, isWhole: boolean): Pick<StructureCheck, 'push' | 'end'> | null {
  const { extension } = format;
  if (extension === 'mp3') return new FrameChain();
  if (!isWhole) return null;
  if (extension === 'ogg' || extension === 'opus') return new OggPages();
  if (extension === 'mp4' || extension === 'm4a') return new Mp4Boxes();
  return extension === 'webm' ? new MatroskaElements(true) : null;
}

function damaged({ message }: DamagedMediaError): DomainError {
  return new DomainError('upstream_error', `The site's file is damaged: ${message}. Try again later.`);
}

/** @param at where the chunk begins in the file. @returns a copy if some of it changes */
function withZeroed(chunk: Buffer, at: number, zeroed: readonly Span[]): Buffer {
  const hit = zeroed.filter(({ start, end }) => start < at + chunk.length && at < end);
  if (hit.length === 0) return chunk;
  const copy = Buffer.from(chunk);
  for (const { start, end } of hit) copy.fill(0, Math.max(0, start - at), Math.min(copy.length, end - at));
  return copy;
}

/**
 * A strong validator of what depends on these parts; null if one is unknown. A hash, so that the site's validators
 * never reach a client.
 */
export function etagOf(...parts: readonly (string | undefined)[]): string | null {
  if (parts.includes(undefined)) return null;
  return `"${createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 27)}"`;
}
