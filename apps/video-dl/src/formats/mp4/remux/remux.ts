import { childBoxes, isDamage } from '../box.js';
import { layOutFragments } from './fragments.js';
import { type Layout, maxHeaderBytes, NotRemuxableError, type SourceFile } from './layout.js';
import { type ChosenTrack, sourceTracks, type SourceTrack, type Tags } from './movie-boxes.js';
import { layOutSamples } from './samples.js';
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
  try {
    const sources = files.map(readSource);
    const tracks = sources.flatMap(({ moov }, source) =>
      chosenTracks(sourceTracks(moov), source, files.length),
    );
    const layout = sources.every(({ moov }) => isFragmented(moov))
      ? layOutFragments(sources, tracks, tags)
      : layOutSamples(sources, tracks, tags);
    return layout.header.length > maxHeaderBytes ? null : layout;
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
