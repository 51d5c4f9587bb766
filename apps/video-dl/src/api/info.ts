import { DomainError, parseRequest, requestContext } from '@media-services/http-common';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { isDescription, languageName } from '../extract/languages.js';
import { parsePageUrl } from '../extract/page-url.js';
import type { ExtractionService } from '../extract/service.js';
import type { Extraction, Format } from '../extract/types.js';
import type { Page } from '../look/learnt.js';
import { downloadTargets, type Target } from '../targets.js';
import { clipOf, type ClipRequest } from '../plan/clip.js';
import { copiedAudioFormat } from '../deliver/audio-output.js';
import type { StreamingService } from '../deliver/service.js';
import type { Way } from '../deliver/ways.js';
import type { infoSchema } from './info-schema.js';
import { pageParameters, withOneClip } from './page-parameters.js';

export const infoQuery = withOneClip(z.strictObject(pageParameters));

type Info = z.output<typeof infoSchema>;
type Download = Info['downloads'][number];

/** The same for every response: the rest of an extraction's life would reveal when another client asked for the page. */
const maxAgeSeconds = 60;

interface InfoContext {
  readonly extraction: Pick<ExtractionService, 'extract'>;
  /** Prefix of the paths in the response: `/media` or empty. */
  readonly basePath: string;
  readonly streaming: Pick<StreamingService, 'prospect'>;
}

/** `GET /api/info` */
export function infoHandler({ extraction: extractions, streaming, basePath }: InfoContext): RequestHandler {
  return async (req, res) => {
    const request = requestContext(res);
    const { signal, client } = request;
    const { item, start, end, chapter, ...query } = parseRequest(infoQuery, req.query);
    const url = parsePageUrl(query.url);
    const clipRequest = { start, end, chapter };
    request.note({ host: new URL(url).host });
    const extraction = await request.timings.measure('extract', async () =>
      extractions.extract(url, { signal, client, item }),
    );
    const isFresh = extraction.expiresAt - Date.now() > maxAgeSeconds * 1000;
    res.setHeader('Cache-Control', `private, max-age=${isFresh ? maxAgeSeconds : 0}`);
    const clip = clipOf(extraction, clipRequest);
    const href = hrefsOf(basePath, { url, item, ...clipRequest });
    /** Undefined if the stream would be rejected. */
    const prospectOf = async (target: Target): Promise<Way | undefined> => {
      try {
        const wished = { extraction, target, clip: clipRequest };
        return await streaming.prospect(wished, { url, item, client }, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof DomainError) return undefined;
        throw error;
      }
    };
    const downloads: Download[] = [];
    // Sequential, because both sizes are often the same file, whose header is then read once.
    for (const target of downloadTargets) {
      const prospect = await prospectOf(target);
      if (prospect !== undefined) downloads.push(describeDownload(target, prospect, href));
    }
    const original = await prospectOf('original');
    res.json({
      ...describeExtraction(extraction),
      clip: clip && { start: clip.startSeconds, end: clip.endSeconds ?? extraction.durationSeconds },
      downloads,
      originalAudio: original === undefined ? null : describeOriginalAudio(original, extraction, href),
    } satisfies Info);
  };
}

function describeExtraction(extraction: Extraction): Omit<Info, 'clip' | 'downloads' | 'originalAudio'> {
  const { durationSeconds } = extraction;
  return {
    ...pick(extraction, 'id', 'title', 'thumbnail', 'durationSource', 'uploader', 'webpageUrl', 'extractor'),
    ...pick(extraction, 'uploadDate', 'description', 'playlistIndex', 'playlistCount'),
    duration: durationSeconds,
    suggestedStart: extraction.suggestedStartSeconds,
    // Live pages are rejected before this.
    isLive: false,
    items: extraction.items.map((item, index) => ({
      ...pick(item, 'title', 'thumbnail'),
      index: index + 1,
      duration: item.durationSeconds,
    })),
    chapters: extraction.chapters.map(({ title, startSeconds, endSeconds }) => ({
      title,
      start: startSeconds,
      end: endSeconds ?? durationSeconds,
    })),
    subtitles: extraction.subtitles.map((each) => pick(each, 'language', 'label', 'isAutomatic')),
    formats: extraction.formats.map((format) => ({
      ...pick(format, 'id', 'ext', 'protocol', 'width', 'height', 'fps', 'videoCodec', 'audioCodec', 'note'),
      ...pick(format, 'videoBitrateKbps', 'audioBitrateKbps', 'filesizeBytes', 'filesizeIsEstimate'),
      availableAt: availableAt(format, Date.now()),
    })),
    audioLanguages: extraction.audioLanguages.map((each) => ({
      ...pick(each, 'language', 'isOriginal'),
      label: languageName(each.language),
      isDescription: isDescription(each.language),
    })),
  };
}

function pick<Source extends object, Name extends keyof Source>(
  source: Source,
  ...names: readonly Name[]
): Pick<Source, Name> {
  return Object.fromEntries(names.map((name) => [name, source[name]])) as Pick<Source, Name>;
}

type Hrefs = (path: string, fmt?: Target) => string;

/** The URLs of streams with these parameters. */
function hrefsOf(basePath: string, { url, ...others }: Page & ClipRequest): Hrefs {
  const optional = Object.entries(others).flatMap(([name, value]) =>
    value === undefined ? [] : [`&${name}=${value}`],
  );
  const query = [`?url=${encodeURIComponent(url)}`, ...optional].join('');
  return (path, fmt) => `${basePath}${path}${query}${fmt === undefined ? '' : `&fmt=${fmt}`}`;
}

function describeOriginalAudio(
  { plan, file, kind }: Way,
  { selections: { original } }: Extraction,
  href: Hrefs,
): Info['originalAudio'] {
  const container = (file?.format ?? copiedAudioFormat(plan))?.extension;
  if (container === undefined || container === 'mp4') return null;
  const [format] = original;
  return {
    href: href('/api/stream', 'original'),
    container,
    codec: format?.audioCodec ?? null,
    bitrateKbps: format?.audioBitrateKbps ?? null,
    isSiteFile: kind === 'pass on',
    estimatedBytes: file?.totalBytes ?? plan.estimatedBytes,
    exactBytes: file?.totalBytes ?? null,
  };
}

function describeDownload(target: Download['target'], { plan, file, kind }: Way, href: Hrefs): Download {
  const { clip } = plan.expected;
  const actionOf = (stream: { action: 'copy' | 'transcode' } | null) =>
    stream !== null && kind === 'pass on' ? ('as is' as const) : (stream?.action ?? null);
  const exactBytes = file?.totalBytes ?? null;
  const common = {
    target,
    audio: actionOf(plan.audio),
    formatIds: [...plan.formatIds],
    estimatedBytes: exactBytes ?? plan.estimatedBytes,
    exactBytes,
  };
  if (target === 'mp3') return { ...common, clipEnd: clip && 'exact', href: href('/api/stream') };
  const isCopied = plan.video?.action === 'copy';
  return {
    ...common,
    clipEnd: clip && (isCopied ? 'up to a few frames late' : 'exact'),
    href: href('/api/stream/video', target),
    height: plan.video?.height ?? null,
    video: isCopied && clip !== null && clip.startSeconds > 0 ? 'copy or transcode' : actionOf(plan.video),
    plays: plan.video?.plays ?? null,
  };
}

/** Null once the format is available. */
function availableAt({ source }: Format, now: number): string | null {
  return source.availableAt === undefined || source.availableAt <= now
    ? null
    : new Date(source.availableAt).toISOString();
}
