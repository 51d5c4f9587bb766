import type { Format } from '../extract/types.js';
import { aacBitrateKbps, mp3BitrateKbps } from '../ffmpeg/audio.js';
import type { PlannedStreams } from './window.js';

const bytesPerKbit = 125;
/** Headers in a fragmented MP4. */
const mp4Overhead = 1.005;
/** Transport stream packets have 4 header bytes in 188, plus padding. */
const transportStreamOverhead = 1.06;
const mp4HeaderBytes = 2_000;
const defaultAudioKbps = 128;
/** Codecs whose bit rate depends on the audio so much that no default is near it. */
const lossless = /^(?:alac|dts|flac|mlp|pcm|truehd|tta|wavpack)/;

/**
 * Size of the output in bytes; null if it is unpredictable, or if neither sizes nor bit rates are known.
 * @param seconds of the media; null if unknown
 */
export function estimateBytes(
  { container, formats, video, audio }: PlannedStreams,
  seconds: number | null,
): number | null {
  const encodesAudio = audio?.action === 'transcode';
  if (container !== 'mp4') {
    const bytes = encodesAudio ? bytesAt(mp3BitrateKbps, seconds) : audioBytes(formats[0], seconds, null);
    return bytes && Math.round(bytes);
  }
  // The encoder targets a quality.
  if (video?.action === 'transcode') return null;
  const sizes = formats.map((format) => formatBytes(format, seconds));
  if (encodesAudio) {
    const before = formats.find(({ hasAudio }) => hasAudio === true);
    const usualKbps = lossless.test(before?.audioCodec ?? '') ? null : defaultAudioKbps;
    const replaced = audioBytes(before, seconds, usualKbps);
    sizes.push(bytesAt(aacBitrateKbps, seconds), replaced && -replaced);
  }
  const bytes = sum(sizes);
  return bytes === null ? null : Math.max(0, Math.round(bytes * mp4Overhead)) + mp4HeaderBytes;
}

/** Of a format's audio. @param usualKbps its bit rate if the page states none; null if it may be anything */
function audioBytes(
  format: Format | undefined,
  seconds: number | null,
  usualKbps: number | null,
): number | null {
  if (format?.hasVideo === false) return formatBytes(format, seconds);
  return bytesAt(format?.audioBitrateKbps ?? usualKbps, seconds);
}

function formatBytes(format: Format, seconds: number | null): number | null {
  const { filesizeBytes, filesizeIsEstimate, totalBitrateKbps, source } = format;
  const overhead = source.kind === 'hls' ? transportStreamOverhead : 1;
  if (filesizeBytes !== null)
    return Math.round(filesizeIsEstimate ? filesizeBytes / overhead : filesizeBytes);
  const bytes = bytesAt(totalBitrateKbps ?? sumOfTracks(format), seconds);
  return bytes && Math.round(bytes / overhead);
}

function sumOfTracks({ hasVideo, hasAudio, videoBitrateKbps, audioBitrateKbps }: Format): number | null {
  return sum([hasVideo === false ? 0 : videoBitrateKbps, hasAudio === false ? 0 : audioBitrateKbps]);
}

function sum(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length < numbers.length ? null : known.reduce((total, number) => total + number, 0);
}

function bytesAt(kbps: number | null, seconds: number | null): number | null {
  return kbps === null || seconds === null ? null : kbps * bytesPerKbit * seconds;
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
