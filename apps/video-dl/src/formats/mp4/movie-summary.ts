import type { AudioLength, Probe, ProbedStream } from '../probed.js';
import { type Box, findBox, isLong, requiredBox } from './box.js';
import { type Mp4Track, type MovieHeader, sampleEntries } from './movie-header.js';
import { sampleSizes } from './remux/sample-tables.js';
import { codecOf, hdrOf } from './sample-entry.js';
import type { SegmentIndex } from './segment-index.js';

/**
 * What ffprobe would report for an MP4.
 * @returns undefined if its moov box isn't sufficient: fragmented files and codecs unknown to us
 * @throws Mp4FormatError, RangeError for a damaged box
 */
export function summariseMovie({
  seconds,
  isFragmented,
  tracks,
}: MovieHeader): Omit<Probe, 'sizeBytes'> | undefined {
  const media = tracks.filter(({ handler }) => handler === 'vide' || handler === 'soun');
  if (isFragmented || seconds === null || media.length === 0) return undefined;
  const streams = media.map(summariseTrack).filter((stream) => stream !== undefined);
  if (streams.length < media.length) return undefined;
  // The movie's duration counts from zero, even if all its tracks start later.
  const lead = Math.max(0, Math.min(...media.map(({ shiftSeconds }) => shiftSeconds)));
  const durationSeconds = lead >= seconds ? seconds : seconds - lead;
  return { durationSeconds, streams, formatName: 'mov,mp4,m4a,3gp,3g2,mj2' };
}

/** Undefined if its codec is unknown to us. */
function summariseTrack(track: Mp4Track): ProbedStream | undefined {
  const { trak, stbl, handler, isEnabled, timescale, duration } = track;
  const [entry] = sampleEntries(track);
  const codec = entry && codecOf(entry);
  if (entry === undefined || codec === undefined || duration === null) return undefined;
  const isVideo = handler === 'vide';
  const durationSeconds = duration / timescale;
  const sizes = sampleSizes(stbl);
  return {
    type: isVideo ? 'video' : 'audio',
    codec,
    ...(isVideo ? displaySize(trak, entry) : { width: null, height: null }),
    fps: isVideo ? Math.round((sizes.count / durationSeconds) * 1000) / 1000 : null,
    bitrateKbps: Math.round((sizes.sum(0, sizes.count) * 8) / durationSeconds / 1000) || null,
    durationSeconds: isVideo ? durationSeconds : (shownSeconds(track) ?? durationSeconds),
    hdr: isVideo ? hdrOf(entry) : undefined,
    hiddenSeconds: hiddenSeconds(track),
    isCover: false,
    // Of several languages, usually one is enabled.
    isDefault: isEnabled,
  };
}

/** Displayed pixels: those of the sample entry, rotated by the track's matrix. */
function displaySize(trak: Box, entry: Box): { width: number; height: number } {
  const [width, height] = [entry.bytes.readUInt16BE(32), entry.bytes.readUInt16BE(34)];
  const header = requiredBox(trak, 'tkhd');
  const matrixAt = isLong(header) ? 60 : 48;
  const isRotated = header.bytes.readInt32BE(matrixAt) === 0 && header.bytes.readInt32BE(matrixAt + 4) !== 0;
  return isRotated ? { width: height, height: width } : { width, height };
}

/**
 * The length of the first audio track in an MP4, if its boxes state it exactly
 * (ISO 14496-12: mdhd 8.4.2, elst 8.6.6, sidx 8.16.3).
 *
 * @param index of a fragmented file, if it has one
 * @returns undefined if there is no audio, or its exact length isn't stated
 * @throws Mp4FormatError, RangeError for damaged boxes
 */
export function audioLength(
  { tracks, isFragmented }: MovieHeader,
  index: SegmentIndex | undefined,
): AudioLength | undefined {
  const track = tracks.find(({ handler }) => handler === 'soun');
  const [entry] = track === undefined ? [] : sampleEntries(track);
  if (track === undefined || entry === undefined) return undefined;
  // The field can't hold rates above 65 535; the track's timescale is the sample rate then.
  const sampleRate = entry.bytes.readUInt16BE(32) || track.timescale;
  // The index measures one track; in a file with video it may not be the audio.
  const stated = tracks.length === 1 ? index?.seconds : undefined;
  const seconds = isFragmented ? stated : shownSeconds(track);
  return seconds === undefined || seconds <= 0 ? undefined : { seconds, sampleRate };
}

/** The length without the media that an edit hides; undefined if it isn't stated. */
function shownSeconds(track: Mp4Track): number | undefined {
  const skipped = skippedUnits(track);
  const { duration, timescale } = track;
  return duration === null || skipped === undefined ? undefined : (duration - skipped) / timescale;
}

/** Media before the start of the only edit, such as an encoder's delay; undefined if there are several edits. */
function skippedUnits({ edits }: Mp4Track): number | undefined {
  if (edits.length === 0) return 0;
  const [only, second] = edits.filter(({ mediaTime }) => mediaTime >= 0);
  return second === undefined ? only?.mediaTime : undefined;
}

/** How much media the only edit hides, minus the time at which the first sample is shown. */
function hiddenSeconds(track: Mp4Track): number | undefined {
  const offsets = findBox(track.stbl, 'ctts')?.bytes;
  const shownAt = offsets === undefined || offsets.readUInt32BE(12) === 0 ? 0 : offsets.readInt32BE(20);
  const hidden = (skippedUnits(track) ?? 0) - shownAt;
  return hidden > 0 ? hidden / track.timescale : undefined;
}
