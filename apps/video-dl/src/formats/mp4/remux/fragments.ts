import { fullBox, makeBox, uint32, int64 } from '../box.js';
import type { MovieHeader } from '../movie-header.js';
import { type IndexedPart, maxTrailerBytes, type SegmentIndex } from '../segment-index.js';
import { type Layout, NotRemuxableError, type SourceFile } from './layout.js';
import {
  emptyTables,
  fileType,
  layoutOf,
  movieBox,
  movieDuration,
  type Tags,
  tagsBox,
} from './movie-boxes.js';
import type { SourceTrack } from './source-tracks.js';

/** A part of a source that its index lists. */
interface Subsegment extends IndexedPart {
  readonly source: number;
  readonly offset: number;
  readonly startSeconds: number;
}

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
  tracks: readonly SourceTrack[],
  tags: Tags,
): Layout {
  if (files.length !== 2) throw new NotRemuxableError('its fragments have both tracks');
  for (const track of tracks) assertHidesLittle(track);
  const [video = [], audio = []] = files.map(subsegments);
  const outputs = tracks.map((track, index) => ({
    ...track,
    mediaSeconds: files[index]?.index?.seconds ?? 0,
    tables: emptyTables,
  }));
  const groups = interleaved(video, audio);
  const moov = movieBox(
    outputs,
    makeBox('mvex', [
      fullBox('mehd', 1, 0, [int64(movieDuration(outputs))]),
      ...files.map(({ movie }, index) => defaultsBox(movie, tracks[index]?.id ?? 0, index + 1)),
    ]),
    tagsBox(tags),
  );
  const header = [fileType(['isom', 'iso6', 'mp41']), moov, indexBox(files[0]?.index, groups)];
  return { ...layoutOf(outputs, header, groups.flat()), fragmentTracks: [1, 2] };
}

function assertHidesLittle({ edits, handler, timescale }: SourceTrack): void {
  const hidden = edits.map(({ mediaTime }) => mediaTime / timescale);
  if (hidden.length > 1 || hidden.some((seconds) => seconds < 0 || seconds > maxHiddenSeconds[handler]))
    throw new NotRemuxableError('its edits hide media');
}

/** @throws NotRemuxableError if its index doesn't list everything up to the end of the file */
function subsegments({ index, totalBytes }: SourceFile, source: number): Subsegment[] {
  if (index === undefined) throw new NotRemuxableError('it has no index');
  const { timescale, firstTime, firstOffset, parts, seconds } = index;
  if (seconds === undefined) throw new NotRemuxableError('its index lists other indexes');
  if (firstTime / timescale > maxStartSeconds) throw new NotRemuxableError("it doesn't start at 0");
  let [offset, time] = [index.end + firstOffset, firstTime];
  const found = parts.map((part) => {
    const subsegment = { ...part, source, offset, startSeconds: time / timescale };
    offset += part.bytes;
    time += part.duration;
    return subsegment;
  });
  if (parts.length === 0 || offset > totalBytes || offset < totalBytes - maxTrailerBytes)
    throw new NotRemuxableError("its index doesn't list all of it");
  return found;
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

/** @param index of the video */
function indexBox(index: SegmentIndex | undefined, groups: readonly Subsegment[][]): Buffer {
  const references = groups.flatMap((group) => {
    const bytes = group.reduce((sum, part) => sum + part.bytes, 0);
    const [video] = group;
    if (video === undefined || bytes > maxReferenceBytes)
      throw new NotRemuxableError('a fragment is too large');
    return [uint32(bytes), uint32(video.duration), uint32(video.accessPoint)];
  });
  return fullBox('sidx', 1, 0, [
    ...[uint32(1), uint32(index?.timescale ?? 0), int64(index?.firstTime ?? 0), int64(0)],
    ...[uint32(groups.length), ...references],
  ]);
}

/** The `trex` box of a track, under its new id. */
function defaultsBox({ defaults }: MovieHeader, from: number, id: number): Buffer {
  const trex = defaults.find(({ bytes }) => bytes.readUInt32BE(12) === from);
  if (trex === undefined) throw new NotRemuxableError('a track has no defaults');
  const bytes = Buffer.from(trex.bytes);
  bytes.writeUInt32BE(id, 12);
  return bytes;
}
