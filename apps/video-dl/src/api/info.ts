import { DomainError, parseRequest, requestContext } from '@media-services/http-common';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import {
  parseVideoUrl,
  targets,
  type Extraction,
  type ExtractionService,
  type Format,
  type Target,
} from '../extract/index.js';
import { planTarget, type Plan, type PlanSettings } from '../plan/plan.js';
import type { StreamingService } from '../stream/service.js';
import type { infoSchema } from './info-schema.js';
import { pageUrlParameter } from './page-url-parameter.js';

export const infoQuery = z.strictObject({ url: pageUrlParameter });

type Info = z.output<typeof infoSchema>;
type Download = Info['downloads'][number];

interface InfoContext {
  readonly extraction: Pick<ExtractionService, 'extract'>;
  readonly planSettings: PlanSettings;
  /** In front of the paths in the answer: `/media`, or nothing. */
  readonly basePath: string;
  readonly streaming: Pick<StreamingService, 'originalBytes'>;
}

/** `GET /api/info?url=` */
export function infoHandler(context: InfoContext): RequestHandler {
  const { extraction: extractions } = context;
  return async (req, res) => {
    const request = requestContext(res);
    const url = parseVideoUrl(parseRequest(infoQuery, req.query).url);
    request.note({ host: new URL(url).host });
    const extraction = await request.timings.measure('extract', async () =>
      extractions.extract(url, { signal: request.signal, client: req.ip }),
    );
    const lifeSeconds = Math.floor((extraction.expiresAt - Date.now()) / 1000);
    res.setHeader('Cache-Control', `private, max-age=${Math.max(0, lifeSeconds)}`);
    const downloads = await describeDownloads({
      ...{ ...context, extraction, url },
      client: req.ip ?? '',
      signal: request.signal,
    });
    res.json({ ...describeExtraction(extraction), downloads });
  };
}

function describeExtraction(extraction: Extraction): Omit<Info, 'downloads'> {
  return {
    id: extraction.id,
    title: extraction.title,
    thumbnail: extraction.thumbnail,
    duration: extraction.durationSeconds,
    uploader: extraction.uploader,
    webpageUrl: extraction.webpageUrl,
    extractor: extraction.extractor,
    // Live pages are refused: what is described has an end.
    isLive: false,
    uploadDate: extraction.uploadDate,
    description: extraction.description,
    playlistIndex: extraction.playlistIndex,
    playlistCount: extraction.playlistCount,
    formats: extraction.formats.map(describeFormat),
  };
}

function describeFormat(format: Format): Info['formats'][number] {
  return {
    id: format.id,
    ext: format.ext,
    protocol: format.protocol,
    width: format.width,
    height: format.height,
    fps: format.fps,
    videoCodec: format.videoCodec,
    audioCodec: format.audioCodec,
    videoBitrateKbps: format.videoBitrateKbps,
    audioBitrateKbps: format.audioBitrateKbps,
    filesizeBytes: format.filesizeBytes,
    filesizeIsEstimate: format.filesizeIsEstimate,
    note: format.note,
    availableAt: availableAt(format, Date.now()),
  };
}

interface DownloadsContext extends Omit<InfoContext, 'extraction'> {
  readonly extraction: Extraction;
  readonly url: string;
  readonly client: string;
  readonly signal: AbortSignal;
}

/** What the streams would be; none for a target whose stream would be refused. */
async function describeDownloads(context: DownloadsContext): Promise<Download[]> {
  const downloads: Download[] = [];
  // One after the other: both sizes are often the same file, which is looked at once.
  for (const target of targets) {
    const plan = planOrRefusal(context.extraction, target, context.planSettings);
    if (plan === undefined) continue;
    const exactBytes = await context.streaming.originalBytes(plan, context, context.signal);
    downloads.push(describeDownload(plan, exactBytes, context));
  }
  return downloads;
}

function describeDownload(
  plan: Plan,
  exactBytes: number | null,
  { url: pageUrl, basePath }: Pick<DownloadsContext, 'url' | 'basePath'>,
): Download {
  const { target } = plan;
  const url = encodeURIComponent(pageUrl);
  const actionOf = (stream: { action: 'copy' | 'transcode' } | null) =>
    stream !== null && exactBytes !== null ? ('as is' as const) : (stream?.action ?? null);
  const common = {
    target,
    audio: actionOf(plan.audio),
    formatIds: [...plan.formatIds],
    estimatedBytes: exactBytes ?? plan.estimatedBytes,
    exactBytes,
  };
  if (target === 'mp3') return { ...common, href: `${basePath}/api/stream?url=${url}` };
  return {
    ...common,
    href: `${basePath}/api/stream/video?url=${url}&fmt=${target}`,
    height: plan.video?.height ?? null,
    video: actionOf(plan.video),
    plays: plan.video?.plays ?? null,
  };
}

function planOrRefusal(extraction: Extraction, target: Target, settings: PlanSettings): Plan | undefined {
  try {
    return planTarget(extraction, target, settings);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

/** Null for what may be read by now. */
function availableAt({ source }: Format, now: number): string | null {
  return source.availableAt === undefined || source.availableAt <= now
    ? null
    : new Date(source.availableAt).toISOString();
}
