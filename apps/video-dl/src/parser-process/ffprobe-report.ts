import { z } from 'zod';
import { rareH264Profiles } from '../formats/mp4/sample-entry.js';
import type { HdrTransfer, Probe, ProbedStream } from '../formats/probed.js';
import { Rejection } from '../formats/rejection.js';

/** A fragmented MP4 states this many ticks for an unknown duration. */
const unknownTicks = 2 ** 32 - 1;
/** Common ticks per second of movies, video and audio. */
const usualTimescales = [
  ...[600, 1000, 10_000, 12_288, 12_800, 15_360, 24_000, 25_000, 30_000, 50_000, 60_000, 90_000],
  ...[22_050, 32_000, 44_100, 48_000, 96_000],
];
/** Of ffprobe's durations. */
const roundingSeconds = 1e-5;
const maxStreams = 64;
/** Keyed by ffprobe's name. */
const hdrTransfers: Readonly<Record<string, HdrTransfer>> = { smpte2084: 'pq', 'arib-std-b67': 'hlg' };

/** Null if absent or unknown. */
const positiveNumber = z.coerce.number().positive().nullable().catch(null);

const reportSchema = z.object({
  format: z.object({
    format_name: z.string(),
    duration: positiveNumber,
    start_time: z.string().optional(),
    size: positiveNumber,
  }),
  streams: z
    .array(
      z.object({
        codec_type: z.string().optional(),
        codec_name: z.string().optional(),
        codec_tag_string: z.string().optional(),
        profile: z.string().optional(),
        level: z.number().optional(),
        width: z.number().optional(),
        height: z.number().optional(),
        sample_rate: z.string().optional(),
        avg_frame_rate: z.string().optional(),
        color_transfer: z.string().optional(),
        bit_rate: positiveNumber,
        duration: positiveNumber,
        time_base: z.string().optional(),
        start_time: positiveNumber,
        tags: z.record(z.string(), z.string()).optional(),
        disposition: z.record(z.string(), z.number()).optional(),
        side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
      }),
    )
    .default([]),
});

type ReportedFormat = z.output<typeof reportSchema>['format'];
type ReportedStream = z.output<typeof reportSchema>['streams'][number];

/**
 * Parses the output of `ffprobe -print_format json -show_format -show_streams`.
 * @throws Rejection
 */
export function readFfprobeReport(text: string): Probe {
  const { format, streams } = parseReport(text);
  const timescales = streams.map(({ time_base: timeBase }) => Number(timeBase?.split('/')[1]) || 1);
  const seconds = knownSeconds(format.duration, format.format_name, roundingSeconds, timescales);
  return {
    durationSeconds: withoutLead(seconds, format, streams),
    startSeconds: Number(format.start_time) || 0,
    sizeBytes: format.size,
    formatName: format.format_name,
    streams: streams.slice(0, maxStreams).flatMap((stream) => {
      const { codec_type: type, codec_name: codec } = stream;
      if ((type !== 'video' && type !== 'audio') || codec === undefined) return [];
      const isRotated = stream.side_data_list?.some(
        ({ rotation }) => rotation !== undefined && Math.abs(rotation) % 180 === 90,
      );
      const [width, height] = isRotated ? [stream.height, stream.width] : [stream.width, stream.height];
      return {
        type,
        codec: fullCodec(stream, codec),
        width: width ?? null,
        height: height ?? null,
        fps: type === 'video' ? parseRatio(stream.avg_frame_rate) : null,
        bitrateKbps: statesPeak.test(codec) ? null : stream.bit_rate && Math.round(stream.bit_rate / 1000),
        ...ownLength(stream, format, timescales),
        delaySeconds: delayOf(stream, format),
        hdr: hdrTransfers[stream.color_transfer ?? ''],
        isAbsent: format.format_name === 'mpegts' && stream.sample_rate === '0' ? true : undefined,
        isCover: stream.disposition?.attached_pic === 1,
        isDefault: isDefault(stream),
      };
    }),
  };
}

/** Codecs whose stated bit rate is the highest that they reach, several times the usual one. */
const statesPeak = /^(?:truehd|mlp)$/u;

/** Sample entries whose parameter sets may be in the media alone. */
const inBand = ['avc3', 'hev1'];

function fullCodec(
  { profile = '', level = 0, codec_tag_string: tag = '' }: ReportedStream,
  codec: string,
): string {
  const rare = codec === 'h264' ? rareH264Profiles.get(profile) : undefined;
  const hex = (byte: number) => (byte & 0xff).toString(16).padStart(2, '0');
  const name = inBand.includes(tag) ? tag : codec;
  return rare === undefined ? name : `avc1.${hex(rare)}00${hex(level)}`;
}

function isDefault({ disposition = {} }: ReportedStream): boolean {
  return disposition.default === 1 && disposition.comment !== 1 && disposition.visual_impaired !== 1;
}

function parseReport(text: string): z.output<typeof reportSchema> {
  try {
    return reportSchema.parse(JSON.parse(text));
  } catch {
    throw new Rejection('no_media', "The media file's description is invalid. Try another page or format.");
  }
}

/** Some containers count their duration from zero instead of the first timestamp. */
function withoutLead(
  seconds: number | null,
  { format_name: name, start_time: start }: ReportedFormat,
  streams: readonly ReportedStream[],
): number | null {
  const lead = leadOf(Number(start) || 0, name);
  if (seconds === null || lead >= seconds) return seconds;
  const ends = streams.map(({ duration, start_time: first }) => (duration ?? -Infinity) + (first ?? 0));
  const lastEnd = Math.max(...ends);
  const countsFromZero = /matroska|flv/.test(name) || Math.abs(lastEnd - seconds) < lead / 2;
  return countsFromZero ? seconds - lead : seconds;
}

/** The delay of an encoder. */
const maxDelaySeconds = 0.1;

/** Seconds from zero to a file's first timestamp. Matroska's may be far below zero. */
export function leadOf(startSeconds: number, formatName: string): number {
  return isMatroska(formatName) && startSeconds < -maxDelaySeconds ? startSeconds : Math.max(0, startSeconds);
}

function delayOf({ start_time: start }: ReportedStream, format: ReportedFormat): number {
  return Math.max(0, (start ?? 0) - Number(format.start_time)) || 0;
}

/** The longest packet of audio in a transport stream. */
const maxPacketSeconds = 1;

/** ffprobe fills in the file's start and duration for a track it has seen too little of. */
function ownLength(
  stream: ReportedStream,
  format: ReportedFormat,
  timescales: readonly number[],
): Pick<ProbedStream, 'durationSeconds' | 'isUnseen'> {
  const { format_name: formatName } = format;
  // Matroska's tracks themselves state none.
  if (isMatroska(formatName))
    return { durationSeconds: matroskaSeconds(stream), isUnseen: stream.duration !== null };
  const isUnseen = stream.sample_rate === '0';
  const seconds = isUnseen ? null : knownSeconds(stream.duration, formatName, roundingSeconds, timescales);
  // ffprobe doesn't count the last packet of a transport stream, which is several frames of audio.
  const toEnd = (format.duration ?? 0) - delayOf(stream, format);
  const lacksPacket = formatName === 'mpegts' && seconds !== null && toEnd - seconds < maxPacketSeconds;
  return { durationSeconds: lacksPacket ? Math.max(toEnd, seconds) : seconds, isUnseen };
}

/** The clock of a transport stream starts again after twice this time. */
const maxTransportSeconds = 2 ** 32 / 90_000;

/**
 * A duration; null also for the "unknown" of a fragmented MP4, misread as a number of ticks, and for that of a
 * transport stream whose clock was set back.
 * @param toleranceSeconds rounding of the duration
 * @param timescales of the file's tracks, if known
 */
export function knownSeconds(
  seconds: number | null,
  formatName: string,
  toleranceSeconds: number,
  timescales: readonly number[] = [],
): number | null {
  if (seconds === null) return null;
  if (formatName === 'mpegts') return seconds > maxTransportSeconds ? null : seconds;
  const isUnknown = [...usualTimescales, ...timescales].some(
    (scale) => Math.abs(seconds - unknownTicks / scale) <= toleranceSeconds,
  );
  return isUnknown ? null : seconds;
}

/** Seconds of `00:03:32.50`. */
export function clockSeconds(clock: string): number {
  return clock.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}

function isMatroska(formatName: string): boolean {
  return formatName.startsWith('matroska');
}

/** Matroska's tag states when a track ends (`00:03:32.500000000`), not how long it is. */
function matroskaSeconds({ tags, start_time: start }: ReportedStream): number | null {
  const [end] = /^\d+:\d\d:\d\d(?:\.\d+)?$/u.exec(tags?.DURATION ?? '') ?? [];
  return end === undefined ? null : Math.max(0, clockSeconds(end) - (start ?? 0));
}

function parseRatio(text: string | undefined): number | null {
  const [numerator, denominator] = (text ?? '').split('/').map(Number);
  if (!numerator || !denominator) return null;
  return Math.round((numerator / denominator) * 1000) / 1000;
}
