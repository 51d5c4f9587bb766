import { lengthOf, mainAudioTrack, streamOf, type Probe, type ProbedStream } from '../formats/probed.js';
import type { MediaSource } from '../upstream/media-source.js';
import { perTarget } from '../targets.js';
import type { Extraction, Format, Selections } from './types.js';

/** Reads the header of a source. */
export type ProbeSource = (source: MediaSource, signal: AbortSignal, client: string) => Promise<Probe>;

/**
 * Probes the selected media if the page didn't state their codecs or duration, so
 * that `/api/info` has real values and the plan uses the real codecs.
 *
 * @throws DomainError when none of the selected media can be read
 */
export async function withProbedDetails(
  extraction: Extraction,
  probeSource: (source: MediaSource, signal: AbortSignal) => Promise<Probe>,
  signal: AbortSignal,
): Promise<Extraction> {
  const chosen = [...new Set(Object.values(extraction.selections).flat())];
  const unclear = chosen.filter(isUnclear);
  if (unclear.length === 0 && extraction.durationSeconds === null) unclear.push(...chosen.slice(0, 1));
  if (unclear.length === 0) return extraction;

  const outcomes = await Promise.allSettled(
    unclear.map(async (format) => [format, await probeSource(format.source, signal)] as const),
  );
  signal.throwIfAborted();
  const probes = new Map(
    outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
  );
  if (probes.size === 0 && unclear.length === chosen.length) {
    throw outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
  }
  return withProbes(extraction, probes);
}

function isUnclear(format: Format): boolean {
  return (
    format.hasVideo === null ||
    format.hasAudio === null ||
    (format.hasVideo && format.videoCodec === null) ||
    (format.hasAudio && format.audioCodec === null)
  );
}

function withProbes(extraction: Extraction, probes: ReadonlyMap<Format, Probe>): Extraction {
  const refined = new Map(extraction.formats.map((format) => [format, refine(format, probes.get(format))]));
  const refinedOf = (format: Format): Format => refined.get(format) ?? format;
  const found = [...probes.values()];
  return {
    ...extraction,
    ...lengthFrom(extraction, found),
    mediaDefect: found.find(({ defect }) => defect !== undefined)?.defect ?? null,
    formats: extraction.formats.map(refinedOf),
    selections: withSeparateAudio(perTarget((target) => extraction.selections[target].map(refinedOf))),
    audioLanguages: extraction.audioLanguages.map((language) => ({
      ...language,
      selections: perTarget((target) => language.selections[target].map(refinedOf)),
    })),
  };
}

/** Pages round lengths, and some state wrong ones. */
function lengthFrom(
  { durationSeconds, durationSource }: Extraction,
  probes: readonly Probe[],
): Pick<Extraction, 'durationSeconds' | 'durationSource'> {
  const usable = probes.filter(({ isExact }) => isExact === true || durationSeconds === null);
  const lengths = usable.flatMap((probe) => probe.durationSeconds ?? []);
  if (lengths.length === 0) return { durationSeconds, durationSource };
  return { durationSeconds: Math.max(...lengths), durationSource: 'media' };
}

/**
 * Adds the page's separate audio to a video that turned out to have none. A playlist may not
 * state codecs, and yt-dlp then assumes that each of its variants has audio.
 */
function withSeparateAudio(selections: Selections): Selections {
  const audio = selections.mp3.filter(({ hasVideo, hasAudio }) => hasVideo === false && hasAudio !== false);
  return perTarget((target) => {
    const formats = selections[target];
    const [only, second] = formats;
    const lacksAudio = second === undefined && only?.hasVideo === true && only.hasAudio === false;
    return lacksAudio ? [only, ...audio.slice(0, 1)] : formats;
  });
}

/** Images, which ffmpeg must not decode here: a small one can contain millions of pixels. */
const image = /^(?:png|apng|gif|bmp|tiff|webp|jpeg2000)$/i;

export function isImageCodec(codec: string): boolean {
  return image.test(codec);
}

/** Fills in what the page didn't state. */
function refine(format: Format, probe: Probe | undefined): Format {
  if (probe === undefined) return format;
  const videos = probe.streams.filter(({ type, isCover }) => type === 'video' && !isCover);
  // Some files have an image, such as a cover, as their first video track.
  const videoTrack = Math.max(
    0,
    videos.findIndex(({ codec }) => !isImageCodec(codec)),
  );
  const isFile = format.source.kind === 'file';
  const audioTrack = isFile ? mainAudioTrack(probe.streams) : 0;
  const audio = streamOf(probe.streams, 'audio', audioTrack);
  const sizeBytes = isFile ? probe.sizeBytes : null;
  return {
    ...format,
    ...videoFields(format, videos[videoTrack]),
    videoTrack,
    audioTrack,
    hasAudio: audio !== undefined,
    audioCodec: audio === undefined ? null : (format.audioCodec ?? audio.codec),
    audioBitrateKbps: format.audioBitrateKbps ?? audio?.bitrateKbps ?? null,
    audioSeconds: isFile && videos.length > 0 ? audio && lengthOf(audio) : undefined,
    isAudioAbsent: audio?.isAbsent,
    hiddenVideoSeconds: videos[videoTrack]?.hiddenSeconds,
    hiddenAudioSeconds: audio?.hiddenSeconds,
    filesizeBytes: sizeBytes ?? format.filesizeBytes,
    filesizeIsEstimate: sizeBytes === null && format.filesizeIsEstimate,
  };
}

function videoFields(format: Format, video: ProbedStream | undefined): Partial<Format> {
  if (video === undefined) return { hasVideo: false, videoCodec: null };
  return {
    hasVideo: true,
    videoCodec: format.videoCodec ?? video.codec,
    width: format.width ?? video.width,
    height: format.height ?? video.height,
    fps: format.fps ?? video.fps,
    hdr: format.hdr ?? video.hdr,
    videoBitrateKbps: format.videoBitrateKbps ?? video.bitrateKbps,
  };
}
