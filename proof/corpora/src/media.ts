import { execa } from 'execa';
import { z } from 'zod';

/** A file as decoded by ffmpeg: the first video track that is not a cover, and the first audio track. */
export interface Decoded {
  readonly videoFrames: number;
  /** Seconds of samples. */
  readonly audioSeconds: number;
  /** Seconds between the end of one audio frame and the start of the next, which a result may fill with silence. */
  readonly gapSeconds: number;
  /** Samples per second; 1 without audio. */
  readonly sampleRate: number;
  readonly hasVideo: boolean;
  readonly hasAudio: boolean;
  /** Width by height as shown; null without video. */
  readonly aspect: number | null;
  /** Whether the decoder complained, or there is less than the file states. */
  readonly isDamaged: boolean;
}

const streamsSchema = z.object({
  format: z.object({ duration: z.coerce.number() }).partial().default({}),
  streams: z
    .array(
      z.object({
        index: z.number(),
        codec_type: z.string().optional(),
        width: z.number().optional(),
        height: z.number().optional(),
        sample_rate: z.coerce.number().optional(),
        disposition: z.object({ attached_pic: z.number() }).partial().optional(),
        side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
      }),
    )
    .default([]),
});

/** @returns undefined for a file that ffmpeg finds no audio or video in */
export async function decode(file: string): Promise<Decoded | undefined> {
  const probe = (args: readonly string[]) =>
    execa('ffprobe', ['-v', 'error', ...args, file], { reject: false, timeout: 120_000, maxBuffer: 2 ** 28 });
  const listed = await probe(['-show_streams', '-show_format', '-of', 'json']);
  const { streams, format } = streamsSchema.parse(listed.exitCode === 0 ? JSON.parse(listed.stdout) : {});
  const video = streams.find(
    ({ codec_type: type, disposition }) => type === 'video' && disposition?.attached_pic !== 1,
  );
  const audio = streams.find(({ codec_type: type }) => type === 'audio');
  if (video === undefined && audio === undefined) return undefined;
  const count = async (index: number | undefined, entry: string) => {
    if (index === undefined) return { values: [], complaint: '' };
    const run = await probe([
      ...['-select_streams', String(index), '-show_frames', '-show_entries', `frame=${entry}`],
      ...['-of', 'csv=p=0'],
    ]);
    // ffprobe prints side data on separate lines.
    const values = run.stdout.split('\n').filter((line) => /^(?:video|-?\d|N\/A,)/.test(line));
    return { values, complaint: run.exitCode === 0 ? run.stderr : `exit code ${String(run.exitCode)}` };
  };
  const [frames, samples] = [
    await count(video?.index, 'media_type'),
    await count(audio?.index, 'pts_time,nb_samples'),
  ];
  const sampleRate = audio?.sample_rate || 1;
  const { audioSeconds, gapSeconds } = measure(samples.values, sampleRate);
  // A file that states more audio than it has was cut.
  const isCut = video === undefined && (format.duration ?? 0) - audioSeconds > 0.5;
  const isTurned =
    video?.side_data_list?.some(({ rotation = 0 }) => Math.abs(rotation) % 180 === 90) ?? false;
  const ratio = video?.width && video.height ? video.width / video.height : null;
  return {
    hasVideo: video !== undefined && frames.values.length > 0,
    hasAudio: audioSeconds > 0,
    videoFrames: frames.values.length,
    audioSeconds,
    gapSeconds,
    sampleRate,
    aspect: ratio !== null && isTurned ? 1 / ratio : ratio,
    isDamaged: isCut || frames.complaint !== '' || samples.complaint !== '' || listed.stderr !== '',
  };
}

/** Shorter ones are rounded timestamps. */
const minGapSeconds = 0.1;

/** @param frames lines of start in seconds and number of samples */
function measure(
  frames: readonly string[],
  sampleRate: number,
): { audioSeconds: number; gapSeconds: number } {
  let [audioSeconds, gapSeconds, end] = [0, 0, NaN];
  for (const frame of frames) {
    const [start = NaN, samples = NaN] = frame.split(',').map(Number.parseFloat);
    const seconds = (samples || 0) / sampleRate;
    if (start - end > minGapSeconds) gapSeconds += start - end;
    audioSeconds += seconds;
    end = start + seconds;
  }
  return { audioSeconds, gapSeconds };
}

/** Encoders fill their first and last frames, of up to 1152 samples. */
const audioTolerance = { seconds: 0.15, samples: 2 * 1152 };

/** How far a stated duration may be from what an audio file contains. */
const maxDurationDifference = { seconds: 0.5, share: 0.03 };

/** What is wrong with the stated duration of intact audio; null is unknown, which is never wrong. */
export function durationDifference(source: Decoded, stated: number | null): string[] {
  const { audioSeconds, hasVideo, hasAudio, isDamaged } = source;
  if (stated === null || hasVideo || !hasAudio || isDamaged) return [];
  const { seconds, share } = maxDurationDifference;
  const isRight = Math.abs(stated - audioSeconds) <= Math.max(seconds, share * audioSeconds);
  return isRight ? [] : [`info: states ${stated.toFixed(2)} of ${audioSeconds.toFixed(2)} s`];
}

/** The differences of a result from its source; empty if it is correct. */
export function differences(source: Decoded, result: Decoded, target: 'mp3' | 'mp4'): string[] {
  const found: string[] = [];
  const audio = result.audioSeconds - source.audioSeconds;
  const toleranceSeconds = Math.max(audioTolerance.seconds, audioTolerance.samples / result.sampleRate);
  if (source.hasAudio && (audio < -audioTolerance.seconds || audio > source.gapSeconds + toleranceSeconds))
    found.push(`${result.audioSeconds.toFixed(2)} of ${source.audioSeconds.toFixed(2)} s of audio`);
  if (target === 'mp3') return found;
  if (source.videoFrames !== result.videoFrames)
    found.push(`${result.videoFrames} of ${source.videoFrames} frames`);
  if (source.aspect !== null && result.aspect !== null && Math.abs(result.aspect / source.aspect - 1) > 0.03)
    found.push(`aspect ratio ${result.aspect.toFixed(2)} instead of ${source.aspect.toFixed(2)}`);
  return found;
}
