import { childBoxes, findBox, Mp4FormatError } from './box.js';
import { readMovieHeader, type Mp4Track } from './movie-header.js';

/** The tracks of a fragmented movie by number; none of one that is not fragmented. */
export function fragmentedTracks(moov: Buffer): Map<number, Mp4Track> {
  const isFragmented = childBoxes(moov).some(({ type }) => type === 'mvex');
  return new Map(isFragmented ? readMovieHeader(moov).tracks.map((track) => [track.id, track]) : []);
}

/**
 * What two movie headers must share for fragments made for one to be readable with the
 * other: tracks, timescales, sample descriptions, edits and defaults.
 * @throws Mp4FormatError, RangeError for a damaged box
 */
export function movieEssentials(moov: Buffer): Buffer {
  const tracks = [...fragmentedTracks(moov)].map(([id, { timescale }]) =>
    Buffer.from(JSON.stringify([id, timescale])),
  );
  const boxes = childBoxes(moov);
  const traks = boxes.filter(({ type }) => type === 'trak');
  const descriptions = traks.map((trak) => {
    const description = findBox(trak, 'mdia', 'minf', 'stbl', 'stsd');
    if (description === undefined) throw new Mp4FormatError('there is no stsd box where one must be');
    return description;
  });
  const edits = traks.flatMap(({ bytes }) => childBoxes(bytes).filter(({ type }) => type === 'edts'));
  const defaults = boxes
    .filter(({ type }) => type === 'mvex')
    .flatMap(({ bytes }) => childBoxes(bytes))
    .filter(({ type }) => type === 'trex');
  return Buffer.concat([...tracks, ...[...descriptions, ...edits, ...defaults].map(({ bytes }) => bytes)]);
}
