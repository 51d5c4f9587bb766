import { childBoxes, makeBox } from '../box.js';
import { type Layout, NotRemuxableError, type SourceFile } from './layout.js';
import {
  type ChosenTrack,
  emptyTables,
  fileType,
  fullBox,
  laidOut,
  movieBox,
  movieDuration,
  tagsBox,
  uint32,
  uint64,
  type Tags,
} from './movie-boxes.js';

/** A part of a fragmented file that its index lists: one or more fragments. */
interface Subsegment {
  readonly source: number;
  readonly offset: number;
  readonly bytes: number;
  readonly startSeconds: number;
  readonly durationUnits: number;
  /** Where to enter the stream (ISO 14496-12, 8.16.3.3). */
  readonly accessPoint: number;
}

interface FragmentIndex {
  readonly timescale: number;
  readonly firstUnits: number;
  readonly subsegments: readonly Subsegment[];
  readonly seconds: number;
}

/** After the last fragment there may be a list of random access points (`mfra`). */
const maxTrailerBytes = 16 * 1024;
/** Longer delays come from a broadcast's clock. */
const maxStartSeconds = 0.25;
/** Some players ignore the edits of a fragmented MP4, so more than an encoder's delay must not be hidden. */
const maxHiddenSeconds = { vide: 0.01, soun: 0.15 };
/** References of an index hold 31 bits. */
const maxReferenceBytes = 0x7fff_ffff;

/**
 * Lays out a fragmented MP4 with an index (ISO 14496-12, 8.8, 8.16.3) from two fragmented files
 * with one track each, whose own indexes list every byte.
 * @throws NotRemuxableError, Mp4FormatError, RangeError
 */
export function layOutFragments(
  files: readonly SourceFile[],
  tracks: readonly ChosenTrack[],
  tags: Tags,
): Layout {
  if (files.length !== 2) throw new NotRemuxableError('its fragments have both tracks');
  for (const track of tracks) assertHidesLittle(track);
  const indexes = files.map((file, source) => readIndex(file, source));
  const [video, audio] = indexes;
  if (video === undefined || audio === undefined) throw new NotRemuxableError('it has no index');
  const seconds = indexes.map((index) => index.seconds);
  const groups = interleaved(video.subsegments, audio.subsegments);
  const movie = movieBox(
    tracks,
    seconds.map((mediaSeconds) => ({ mediaSeconds, tables: emptyTables })),
    makeBox('mvex', [
      fullBox('mehd', 1, 0, [uint64(movieDuration(tracks, seconds))]),
      ...files.map(({ moov }, index) => trackDefaults(moov, tracks[index]?.id ?? 0, index + 1)),
    ]),
    tagsBox(tags),
  );
  const pieces = groups.flat();
  return {
    header: Buffer.concat([fileType(['isom', 'iso6', 'mp41']), movie, indexBox(video, groups)]),
    sources: Uint8Array.from(pieces, ({ source }) => source),
    offsets: Float64Array.from(pieces, ({ offset }) => offset),
    lengths: Float64Array.from(pieces, ({ bytes }) => bytes),
    tracks: tracks.map((track, index) => laidOut(track, indexes[index]?.seconds ?? 0)),
    fragmentTracks: [1, 2],
  };
}

function assertHidesLittle({ edits, handler, timescale }: ChosenTrack): void {
  const hidden = edits.map(({ mediaTime }) => mediaTime / timescale);
  if (hidden.length > 1 || hidden.some((seconds) => seconds < 0 || seconds > maxHiddenSeconds[handler]))
    throw new NotRemuxableError('its edits hide media');
}

/** Reads a `sidx` box that lists everything up to the end of the file. */
function readIndex({ index, totalBytes }: SourceFile, source: number): FragmentIndex {
  if (index === null) throw new NotRemuxableError('it has no index');
  const { bytes: sidx, end } = index;
  const isLong = sidx.readUInt8(8) === 1;
  const timescale = sidx.readUInt32BE(16);
  if (timescale === 0) throw new NotRemuxableError('its index has the timescale 0');
  const firstUnits = isLong ? Number(sidx.readBigUInt64BE(20)) : sidx.readUInt32BE(20);
  const firstOffset = isLong ? Number(sidx.readBigUInt64BE(28)) : sidx.readUInt32BE(24);
  const countAt = (isLong ? 36 : 28) + 2;
  const count = sidx.readUInt16BE(countAt);
  if (firstUnits / timescale > maxStartSeconds) throw new NotRemuxableError("it doesn't start at 0");
  let units = firstUnits;
  let offset = end + firstOffset;
  const subsegments: Subsegment[] = [];
  for (let at = countAt + 2; at < countAt + 2 + 12 * count; at += 12) {
    const reference = sidx.readUInt32BE(at);
    if (reference > maxReferenceBytes) throw new NotRemuxableError('its index lists other indexes');
    const durationUnits = sidx.readUInt32BE(at + 4);
    const startSeconds = units / timescale;
    const accessPoint = sidx.readUInt32BE(at + 8);
    subsegments.push({ source, offset, bytes: reference, startSeconds, durationUnits, accessPoint });
    offset += reference;
    units += durationUnits;
  }
  if (count === 0 || offset > totalBytes || offset < totalBytes - maxTrailerBytes)
    throw new NotRemuxableError("its index doesn't list all of it");
  return { timescale, firstUnits, subsegments, seconds: (units - firstUnits) / timescale };
}

/** Groups of one part of the video, then the audio that starts before the next one. */
function interleaved(video: readonly Subsegment[], audio: readonly Subsegment[]): Subsegment[][] {
  let next = 0;
  return video.map((part, index) => {
    const until = video[index + 1]?.startSeconds ?? Infinity;
    const from = next;
    while ((audio[next]?.startSeconds ?? Infinity) < until) next += 1;
    return [part, ...audio.slice(from, next)];
  });
}

function indexBox({ timescale, firstUnits }: FragmentIndex, groups: readonly Subsegment[][]): Buffer {
  const references = groups.flatMap((group) => {
    const bytes = group.reduce((sum, part) => sum + part.bytes, 0);
    const [video] = group;
    if (video === undefined || bytes > maxReferenceBytes)
      throw new NotRemuxableError('a fragment is too large');
    return [uint32(bytes), uint32(video.durationUnits), uint32(video.accessPoint)];
  });
  return fullBox('sidx', 1, 0, [
    ...[uint32(1), uint32(timescale), uint64(firstUnits), uint64(0)],
    ...[uint32(groups.length), ...references],
  ]);
}

/** The `trex` box of a track, under its new id. */
function trackDefaults(moov: Buffer, from: number, id: number): Buffer {
  const trex = childBoxes(moov)
    .filter(({ type }) => type === 'mvex')
    .flatMap(({ bytes }) => childBoxes(bytes))
    .find(({ type, bytes }) => type === 'trex' && bytes.readUInt32BE(12) === from);
  if (trex === undefined) throw new NotRemuxableError('a track has no defaults');
  const bytes = Buffer.from(trex.bytes);
  bytes.writeUInt32BE(id, 12);
  return bytes;
}
