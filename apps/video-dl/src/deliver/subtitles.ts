import { DomainError } from '@media-services/http-common';
import { inLanguage, notThere } from '../extract/languages.js';
import type { Extraction, Subtitles } from '../extract/types.js';
import type { TextTrack } from '../formats/mp4/text-track.js';
import { partsIn } from '../formats/chapters.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import { clipOf } from '../plan/clip.js';
import { SegmentList } from '../relay/segment-list.js';
import type { Upstream } from '../upstream/upstream.js';
import type { StreamRequest } from './job.js';

/** Of one language, all segments together. */
const maxBytes = 2 * 1024 ** 2;
const maxSegments = 1_000;
const parallelSegments = 8;

interface SubtitlesContext {
  readonly upstream: Pick<Upstream, 'fetchBytes'>;
  readonly parsers: Pick<ParserPool, 'forClient'>;
  readonly client: string;
  readonly signal: AbortSignal;
}

/**
 * Reads subtitles in the languages that a client requested, cut for its clip.
 * @throws DomainError, `no_media` if the page doesn't have a language; the signal's reason
 */
export async function readSubtitles(
  extraction: Extraction,
  { subtitles = [], clip = {} }: Pick<StreamRequest, 'subtitles' | 'clip'>,
  context: SubtitlesContext,
): Promise<TextTrack[]> {
  const chosen = new Set(subtitles.map((wanted) => subtitlesIn(wanted, extraction.subtitles)));
  const part = clipOf(extraction, clip);
  return Promise.all(
    [...chosen].map(async (each) => {
      const files = await filesOf(each, context);
      const job = { kind: 'subtitles', files, format: each.format } as const;
      const cues = await context.parsers.forClient(context.client)(job, context.signal);
      return { language: each.language, label: each.label, cues: partsIn(part, cues) };
    }),
  );
}

/** Prefers those that a person wrote. */
function subtitlesIn(wanted: string, all: readonly Subtitles[]): Subtitles {
  const written = all.filter(({ isAutomatic }) => !isAutomatic);
  const found = inLanguage(wanted, written) ?? inLanguage(wanted, all);
  if (found === undefined) throw notThere('subtitles', wanted, all, 'the video without them');
  return found;
}

async function filesOf({ source }: Subtitles, context: SubtitlesContext): Promise<Uint8Array[]> {
  const { upstream, parsers, client, signal } = context;
  const fetched = await upstream.fetchBytes(source, { maxBytes, signal, client });
  if (source.kind === 'file') return [fetched.bytes];
  const job = {
    kind: 'playlist',
    bytes: fetched.bytes,
    baseUrl: fetched.url,
    maxSegments,
    key: undefined,
  } as const;
  const playlist = await parsers.forClient(client)(job, signal);
  if (playlist.kind !== 'segments') throw tooMany();
  const list = new SegmentList(playlist.table, {});
  const segments = Array.from({ length: list.length }, (_, number) => list.segment(number));
  const files: Uint8Array[] = [];
  let left = maxBytes;
  while (files.length < segments.length) {
    const options = { maxBytes: Math.max(1, left), signal, client };
    const parts = await Promise.all(
      segments
        .slice(files.length, files.length + parallelSegments)
        .map(async ({ url }) => (await upstream.fetchBytes({ ...source, url }, options)).bytes),
    );
    left -= parts.reduce((sum, { length }) => sum + length, 0);
    if (left < 0) throw tooMany();
    files.push(...parts);
  }
  return files;
}

function tooMany(): DomainError {
  return new DomainError(
    'too_long',
    "The site's subtitles are too large. Omit `subtitles` to get the video without them.",
  );
}
