import { DomainError } from '@media-services/http-common';
import { targets, type Extraction, type Format, type Target } from '../extract/types.js';
import type { StreamAction } from './codecs.js';
import { planTarget, type PlanLimits } from './plan.js';

/** One entry of `downloads`; `height` and `video` are those of MP4 targets. */
interface Download {
  readonly target: Target;
  readonly href: string;
  readonly height?: number | null;
  readonly video?: StreamAction | null;
  readonly audio: StreamAction | null;
  readonly formatIds: readonly string[];
  readonly estimatedBytes: number | null;
}

/** What `/api/info` answers. */
export function describeExtraction(extraction: Extraction, pageUrl: string, limits: PlanLimits) {
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
    downloads: targets.flatMap((target) => describeDownload(extraction, target, pageUrl, limits)),
  };
}

function describeFormat(format: Format) {
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
  };
}

/** One download, or none where the stream of this target would be refused. */
function describeDownload(
  extraction: Extraction,
  target: Target,
  pageUrl: string,
  limits: PlanLimits,
): Download[] {
  const plan = planOrRefusal(extraction, target, limits);
  if (plan === undefined) return [];
  const url = encodeURIComponent(pageUrl);
  const { formatIds, estimatedBytes } = plan;
  const audio = plan.audio?.action ?? null;
  if (target === 'mp3') return [{ target, href: `/api/stream?url=${url}`, audio, formatIds, estimatedBytes }];
  return [
    {
      target,
      href: `/api/stream/video?url=${url}&fmt=${target}`,
      height: plan.video?.height ?? null,
      video: plan.video?.action ?? null,
      audio,
      formatIds,
      estimatedBytes,
    },
  ];
}

function planOrRefusal(extraction: Extraction, target: Target, limits: PlanLimits) {
  try {
    return planTarget(extraction, target, limits);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
