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
import { planTarget, type Plan, type PlanLimits } from '../plan/plan.js';
import type { infoSchema } from './info-schema.js';
import { pageUrlParameter } from './page-url-parameter.js';

export const infoQuery = z.strictObject({ url: pageUrlParameter });

type Info = z.output<typeof infoSchema>;
type Download = Info['downloads'][number];

interface InfoContext {
  readonly extraction: Pick<ExtractionService, 'extract'>;
  readonly planLimits: PlanLimits;
  /** In front of the paths in the answer: `/media`, or nothing. */
  readonly basePath: string;
}

/** `GET /api/info?url=` */
export function infoHandler({ extraction: extractions, planLimits, basePath }: InfoContext): RequestHandler {
  return async (req, res) => {
    const context = requestContext(res);
    const url = parseVideoUrl(parseRequest(infoQuery, req.query).url);
    context.note({ host: new URL(url).host });
    const extraction = await context.timings.measure('extract', async () =>
      extractions.extract(url, { signal: context.signal }),
    );
    const lifeSeconds = Math.floor((extraction.expiresAt - Date.now()) / 1000);
    res.setHeader('Cache-Control', `private, max-age=${Math.max(0, lifeSeconds)}`);
    res.json(describeExtraction(extraction, url, planLimits, basePath));
  };
}

/** What `/api/info` answers. */
function describeExtraction(
  extraction: Extraction,
  pageUrl: string,
  limits: PlanLimits,
  basePath: string,
): Info {
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
    downloads: targets.flatMap((target) => describeDownload(extraction, target, pageUrl, limits, basePath)),
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

/** One download, or none where the stream of this target would be refused. */
function describeDownload(
  extraction: Extraction,
  target: Target,
  pageUrl: string,
  limits: PlanLimits,
  basePath: string,
): Download[] {
  const plan = planOrRefusal(extraction, target, limits);
  if (plan === undefined) return [];
  const url = encodeURIComponent(pageUrl);
  const formatIds = [...plan.formatIds];
  const { estimatedBytes } = plan;
  const audio = plan.audio?.action ?? null;
  if (target === 'mp3')
    return [{ target, href: `${basePath}/api/stream?url=${url}`, audio, formatIds, estimatedBytes }];
  return [
    {
      target,
      href: `${basePath}/api/stream/video?url=${url}&fmt=${target}`,
      height: plan.video?.height ?? null,
      video: plan.video?.action ?? null,
      audio,
      formatIds,
      estimatedBytes,
    },
  ];
}

function planOrRefusal(extraction: Extraction, target: Target, limits: PlanLimits): Plan | undefined {
  try {
    return planTarget(extraction, target, limits);
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
