import { z } from 'zod';
import { numberOrNull, shortText } from './schemas.js';

/** How a high dynamic range is coded (ITU-R BT.2100): perceptual quantizer or hybrid log-gamma. */
const hdrSchema = z.enum(['pq', 'hlg']);
export type HdrTransfer = z.output<typeof hdrSchema>;

const streamSchema = z.object({
  type: z.enum(['video', 'audio']),
  /** ffmpeg's name for it: `h264`, `vp9`, `aac`, `opus`, …; `avc1.6e0028` for H.264 that few players support. */
  codec: shortText,
  /** Displayed pixels, after rotation; null for audio. */
  width: numberOrNull,
  height: numberOrNull,
  fps: numberOrNull,
  bitrateKbps: numberOrNull,
  /** The stream's own duration, if the container states one. */
  durationSeconds: numberOrNull,
  /** Delay relative to the first stream of the file; only from ffprobe. */
  delaySeconds: z.number().optional(),
  /** ffprobe saw so little of it that it may start later than reported. */
  isUnseen: z.boolean().optional(),
  /** A transport stream lists it, and ffprobe saw nothing of it. */
  isAbsent: z.boolean().optional(),
  /** How much of its beginning an edit list hides; absent if nothing, or unknown. */
  hiddenSeconds: z.number().optional(),
  /** Of a video with a high dynamic range, if the file says so. */
  hdr: hdrSchema.optional(),
  /** Cover art, not a video. */
  isCover: z.boolean(),
  /** The file marks it as one to play unless the user chooses another, and not as a commentary or audio description. */
  isDefault: z.boolean(),
});
export type ProbedStream = z.output<typeof streamSchema>;

/** The stream that ffmpeg counts as this type's number `track`. */
export function streamOf(
  streams: readonly ProbedStream[],
  wanted: ProbedStream['type'],
  track = 0,
): ProbedStream | undefined {
  return streams.filter(({ type, isCover }) => type === wanted && !isCover)[track];
}

/** How long a stream lasts without a delay before it; null if unknown. */
export function lengthOf({ durationSeconds, isUnseen }: ProbedStream): number | null {
  return isUnseen === true ? null : durationSeconds;
}

/** The number, among the audio streams, of the one that players play: the first default one, else the first. */
export function mainAudioTrack(streams: readonly ProbedStream[]): number {
  const audio = streams.filter(({ type }) => type === 'audio');
  return Math.max(
    0,
    audio.findIndex(({ isDefault }) => isDefault),
  );
}

/** What a file's header says. */
export const headerSchema = z.object({
  durationSeconds: numberOrNull,
  /** The file's first time; only from ffprobe. */
  startSeconds: z.number().optional(),
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  formatName: shortText,
  streams: z.array(streamSchema).max(1100),
});

export const probeSchema = headerSchema.extend({
  /** Of the whole file, if its server states it. */
  sizeBytes: numberOrNull,
});

export interface Probe extends z.output<typeof probeSchema> {
  /** Whether the media state the duration, rather than it being estimated from a bit rate. Absent if unknown. */
  isExact?: boolean | undefined;
  /** Whether the media state another, wrong duration. */
  statesWrongLength?: boolean | undefined;
}

/** The audio length that a file states. */
export const audioLengthSchema = z.object({
  /** Exact to one tick of the container's clock, which for audio is usually a sample. */
  seconds: z.number(),
  sampleRate: z.number(),
});
export type AudioLength = z.output<typeof audioLengthSchema>;
