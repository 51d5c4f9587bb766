import { isDamage } from '../box.js';
import { layOutFragments } from './fragments.js';
import {
  type Layout,
  maxHeaderBytes,
  NotRemuxableError,
  type SourceFile,
  type WindowLayout,
} from './layout.js';
import type { Tags } from './movie-boxes.js';
import { sourceTracks } from './source-tracks.js';
import { layOutSamples } from './samples.js';
import { layOutWindow, type WindowTimes } from './window.js';
import { readStructure } from '../head.js';
import { MissingBytes, PartialFile, type FilePiece } from '../../partial-file.js';

/** A file whose header has been read. */
export interface PartlyRead {
  readonly pieces: readonly FilePiece[];
  readonly totalBytes: number;
}

/**
 * Combines a file, or one with video and one with audio, into an MP4 that is known before it is sent.
 * @returns null for files that need ffmpeg
 */
export function remuxLayout(files: readonly PartlyRead[], tags: Tags): Layout | null {
  return ifRemuxable(() => {
    const sources = files.map(readSource);
    const { video, audioTracks } = tracksOf(sources, 'player');
    const [audio] = audioTracks;
    if (video === undefined || (files.length > 1 && audio === undefined))
      throw new NotRemuxableError('a track is missing');
    const tracks = audio === undefined ? [video] : [video, audio];
    return sources.every(({ movie }) => movie.isFragmented)
      ? layOutFragments(sources, tracks, tags)
      : layOutSamples(sources, tracks, tags);
  });
}

/** Which tracks of the files a clip has. */
export interface WindowTracks {
  readonly video: boolean;
  /** Number of the audio track; null for none. */
  readonly audio: number | null;
}

/**
 * An MP4 of the samples that a clip needs.
 * @returns null if we can't lay out these files, or a clip that begins there
 */
export function windowLayout(
  files: readonly PartlyRead[],
  { wanted, times }: { readonly wanted: WindowTracks; readonly times: WindowTimes },
  tags: Tags,
): WindowLayout | null {
  return ifRemuxable(() => {
    const sources = files.map(readSource);
    if (sources.some(({ movie }) => movie.isFragmented)) throw new NotRemuxableError('it has fragments');
    const { all, video, audioTracks } = tracksOf(sources, times.for);
    const tracks = [wanted.video ? video : null, wanted.audio === null ? null : audioTracks[wanted.audio]];
    if (tracks.includes(undefined)) throw new NotRemuxableError('a track is missing');
    const chosen = tracks.filter((track) => track != null);
    return layOutWindow(sources, { tracks: chosen, all }, times, tags);
  });
}

function ifRemuxable<Result extends Layout | WindowLayout>(layOut: () => Result): Result | null {
  try {
    const result = layOut();
    const { header } = 'layout' in result ? result.layout : result;
    return header.length > maxHeaderBytes ? null : result;
  } catch (error) {
    if (error instanceof NotRemuxableError || error instanceof MissingBytes || isDamage(error)) return null;
    throw error;
  }
}

function readSource({ pieces, totalBytes }: PartlyRead): SourceFile {
  const file = new PartialFile(pieces);
  // Other formats have no box name here.
  if (!/^(?:ftyp|moov|styp|wide|free|skip|mdat)$/u.test(file.read(0, 12).toString('latin1', 4, 8)))
    throw new NotRemuxableError('it is no MP4');
  const { movie, index, isWhole } = readStructure(file, totalBytes);
  if (movie === undefined || !isWhole) throw new NotRemuxableError('its index is missing');
  return { movie, index, totalBytes };
}

/** Of two files, the first has the video and the second the audio. */
function tracksOf(sources: readonly SourceFile[], reader: WindowTimes['for']) {
  const all = sources.flatMap(({ movie }, source) => sourceTracks(movie, source, reader));
  const video = all.find(({ handler, source }) => handler === 'vide' && source === 0);
  const last = sources.length - 1;
  return {
    all,
    video,
    audioTracks: all.filter(({ handler, source }) => handler === 'soun' && source === last),
  };
}
