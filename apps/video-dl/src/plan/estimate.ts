import type { Format } from '../extract/types.js';
import { aacBitrateKbps, mp3BitrateKbps } from '../ffmpeg/audio.js';

const bytesPerKbit = 125;
/** Headers in a fragmented MP4. */
const mp4Overhead = 1.005;
/** Transport stream packets have 4 header bytes in 188, plus padding. */
const transportStreamOverhead = 1.06;
const mp4HeaderBytes = 2_000;
const defaultAudioKbps = 128;
/** Codecs whose bit rate depends on the audio so much that no default is near it. */
const lossless = /^(?:alac|dts|flac|mlp|pcm|truehd|tta|wavpack)/;

export interface EstimateInput {
  readonly formats: readonly Format[];
  readonly durationSeconds: number | null;
  readonly transcodesVideo: boolean;
  readonly transcodesAudio: boolean;
}

/** Size of the MP4 in bytes; null if neither sizes nor bit rates are known. */
export function estimateMp4Bytes(input: EstimateInput): number | null {
  // The encoder targets a quality, so its output size is unpredictable.
  if (input.transcodesVideo) return null;
  const sizes = input.formats.map((format) => formatBytes(format, input.durationSeconds));
  if (sizes.some((size) => size === null)) return null;
  let bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  if (input.transcodesAudio) {
    if (input.durationSeconds === null) return null;
    const audio = input.formats.find(({ hasAudio }) => hasAudio === true);
    const before = audioBytes(audio, input.durationSeconds);
    if (before === null) return null;
    bytes += aacBitrateKbps * bytesPerKbit * input.durationSeconds - before;
  }
  return Math.max(0, Math.round(bytes * mp4Overhead)) + mp4HeaderBytes;
}

/** Of the audio that is replaced; null if it may be anything. */
function audioBytes(format: Format | undefined, durationSeconds: number): number | null {
  if (format?.hasVideo === false) return formatBytes(format, durationSeconds);
  const usualKbps = lossless.test(format?.audioCodec ?? '') ? null : defaultAudioKbps;
  const kbps = format?.audioBitrateKbps ?? usualKbps;
  return kbps && kbps * bytesPerKbit * durationSeconds;
}

/** Size of the MP3 or the copied audio in bytes; null if the duration is unknown. */
export function estimateAudioBytes(input: EstimateInput): number | null {
  const { durationSeconds } = input;
  if (input.transcodesAudio) {
    return durationSeconds === null ? null : Math.round(durationSeconds * mp3BitrateKbps * bytesPerKbit);
  }
  const [format] = input.formats;
  if (format?.hasVideo === false) return formatBytes(format, durationSeconds);
  const kbps = format?.audioBitrateKbps ?? null;
  return kbps === null || durationSeconds === null ? null : Math.round(durationSeconds * kbps * bytesPerKbit);
}

function formatBytes(format: Format, durationSeconds: number | null): number | null {
  const overhead = format.source.kind === 'hls' ? transportStreamOverhead : 1;
  if (format.filesizeBytes !== null) {
    return Math.round(format.filesizeIsEstimate ? format.filesizeBytes / overhead : format.filesizeBytes);
  }
  const kbps = format.totalBitrateKbps ?? sumOfTracks(format);
  return kbps === null || durationSeconds === null
    ? null
    : Math.round((kbps * bytesPerKbit * durationSeconds) / overhead);
}

function sumOfTracks({ hasVideo, hasAudio, videoBitrateKbps, audioBitrateKbps }: Format): number | null {
  const video = hasVideo === false ? 0 : videoBitrateKbps;
  const audio = hasAudio === false ? 0 : audioBitrateKbps;
  return video === null || audio === null ? null : video + audio;
}

/** Pixels; null if unknown. */
export interface Size {
  readonly height: number | null;
  readonly width: number | null;
}

/** Scales a video's size down, keeping its aspect ratio, until the shorter side has at most `maxShortSide` pixels. */
export function fitInto({ height, width }: Size, maxShortSide: number): Size {
  if (height === null || width === null) return { height, width };
  const scale = Math.min(1, maxShortSide / Math.min(height, width));
  // 4:2:0 needs even sizes.
  const even = (pixels: number) => 2 * Math.max(1, Math.floor((pixels * scale) / 2 + 1e-6));
  return { height: even(height), width: even(width) };
}
