import { hasSetsInMedia, isSameCodec } from '../formats/codecs.js';
import { lengthOf, mainAudioTrack, streamOf, type Probe, type ProbedStream } from '../formats/probed.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { ReaderOptions } from '../upstream/upstream.js';
import { perTarget } from '../targets.js';
import type { Extraction, Format, Selections } from './types.js';

/** Reads the header of a source. */
export type ProbeSource = (source: MediaSource, options: Omit<ReaderOptions, 'identity'>) => Promise<Probe>;

/**
 * Probes the selected media if the page didn't state their codecs or duration for certain, so
 * that `/api/info` has real values and the plan uses the real codecs.
 *
 * @throws DomainError when none of the selected media can be read
 */
export async function withProbedDetails(
  extraction: Extraction,
  probeSource: ProbeSource,
  { signal, client = '' }: { readonly signal: AbortSignal; readonly client?: string | undefined },
): Promise<Extraction> {
  const chosen = [...new Set(Object.values(extraction.selections).flat())];
  const unclear = chosen.filter(isUnclear);
  if (unclear.length === 0 && extraction.durationSeconds === null) unclear.push(...chosen.slice(0, 1));
  if (unclear.length === 0) return extraction;

  const outcomes = await Promise.allSettled(
    unclear.map(async (format) => [format, await probeSource(format.source, { signal, client })] as const),
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

/** A page that states neither bit rate nor size of an audio file may have guessed the rest from the file's name. */
function isUnclear(format: Format): boolean {
  const isNamedOnly =
    format.source.kind === 'file' && format.hasVideo === false && format.totalBitrateKbps === null;
  return (
    (isNamedOnly && format.audioBitrateKbps === null && format.filesizeBytes === null) ||
    format.hasVideo === null ||
    format.hasAudio === null ||
    (format.hasVideo && format.videoCodec === null) ||
    (format.hasAudio && format.audioCodec === null)
  );
}

function withProbes(extraction: Extraction, probes: ReadonlyMap<Format, Probe>): Extraction {
  const refined = new Map(
    extraction.formats.map((format) => [format, withProbe(format, probes.get(format))]),
  );
  const refinedOf = (format: Format): Format => refined.get(format) ?? format;
  const refinedIn = (selections: Selections) => perTarget((target) => selections[target].map(refinedOf));
  const found = [...probes.values()];
  return {
    ...extraction,
    ...lengthFrom(extraction, found),
    mediaStateWrongLength: found.some(({ statesWrongLength }) => statesWrongLength === true),
    formats: extraction.formats.map(refinedOf),
    selections: withSeparateAudio(refinedIn(extraction.selections)),
    audioLanguages: extraction.audioLanguages.map((language) => ({
      ...language,
      selections: refinedIn(language.selections),
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

/** The format with what its media are, where the page states nothing or something else. */
export function withProbe(format: Format, probe?: Pick<Probe, 'streams' | 'sizeBytes'>): Format {
  if (probe === undefined) return format;
  const { streams } = probe;
  const video = streamOf(streams, 'video');
  const isFile = format.source.kind === 'file';
  const audioTrack = isFile ? mainAudioTrack(streams) : 0;
  const audio = streamOf(streams, 'audio', audioTrack);
  const sizeBytes = isFile ? probe.sizeBytes : null;
  return {
    ...format,
    hasVideo: video !== undefined,
    videoCodec: codecOf(video, format.videoCodec),
    width: format.width ?? video?.width ?? null,
    height: format.height ?? video?.height ?? null,
    fps: format.fps ?? video?.fps ?? null,
    hdr: video?.hdr ?? format.hdr,
    videoBitrateKbps: format.videoBitrateKbps ?? video?.bitrateKbps ?? null,
    hiddenVideoSeconds: video?.hiddenSeconds,
    audioTrack,
    hasAudio: audio !== undefined,
    audioCodec: codecOf(audio, format.audioCodec),
    audioBitrateKbps: format.audioBitrateKbps ?? audio?.bitrateKbps ?? null,
    audioSeconds: isFile && video !== undefined ? audio && lengthOf(audio) : undefined,
    isAudioAbsent: audio?.isAbsent,
    hiddenAudioSeconds: audio?.hiddenSeconds,
    filesizeBytes: sizeBytes ?? format.filesizeBytes,
    filesizeIsEstimate: sizeBytes === null && format.filesizeIsEstimate,
  };
}

/** The page's name says more than that of the same codec in the file. */
function codecOf(found: ProbedStream | undefined, stated: string | null): string | null {
  const isStated = stated !== null && isSameCodec(found?.codec, stated) && !hasSetsInMedia(found?.codec);
  return isStated ? stated : (found?.codec ?? null);
}
