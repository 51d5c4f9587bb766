import { childBoxes, isDamage } from '../box.js';
import { layOutFragments } from './fragments.js';
import { type Layout, maxHeaderBytes, NotRemuxableError, type SourceFile } from './layout.js';
import { type ChosenTrack, sourceTracks, type SourceTrack, type Tags } from './movie-boxes.js';
import { layOutSamples } from './samples.js';
import { layOutWindow, type WindowLayout, type WindowTimes } from './window.js';
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
    const tracks = sources.flatMap(({ moov }, source) =>
      chosenTracks(sourceTracks(moov), source, files.length),
    );
    return sources.every(({ moov }) => isFragmented(moov))
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
 * @returns null for files, or beginnings of clips, that can't be had so
 */
export function windowLayout(
  files: readonly PartlyRead[],
  { wanted, times }: { readonly wanted: WindowTracks; readonly times: WindowTimes },
  tags: Tags,
): WindowLayout | null {
  return ifRemuxable(() => {
    const sources = files.map(readSource);
    if (sources.some(({ moov }) => isFragmented(moov))) throw new NotRemuxableError('it has fragments');
    const all = sources.flatMap(({ moov }, source) =>
      sourceTracks(moov, times.for).map((track) => ({ ...track, source })),
    );
    const isOne = files.length === 1;
    const [video] = all.filter(({ handler, source }) => handler === 'vide' && source === 0);
    const audio = all.filter(({ handler, source }) => handler === 'soun' && (isOne || source === 1));
    const tracks = [wanted.video ? video : null, wanted.audio === null ? null : audio[wanted.audio]];
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
  const { movie, index, indexEnd, isWhole } = readStructure(file, totalBytes);
  if (movie === undefined || !isWhole) throw new NotRemuxableError('its index is missing');
  return { moov: movie, index: index === undefined ? null : { bytes: index, end: indexEnd }, totalBytes };
}

/** Of two files, the first has the video and the second the audio. */
function chosenTracks(tracks: readonly SourceTrack[], source: number, files: number): ChosenTrack[] {
  const wanted = files === 1 ? ['vide', 'soun'] : [source === 0 ? 'vide' : 'soun'];
  const chosen = tracks.filter(({ handler }) => wanted.includes(handler));
  const hasAll = files === 1 ? chosen.some(({ handler }) => handler === 'vide') : chosen.length === 1;
  if (!hasAll) throw new NotRemuxableError('a track is missing');
  return chosen
    .sort((a, b) => Number(a.handler === 'soun') - Number(b.handler === 'soun'))
    .map((track) => ({ ...track, source }));
}

function isFragmented(moov: Buffer): boolean {
  return childBoxes(moov).some(({ type }) => type === 'mvex');
}
