import { type Box, childBoxes, Mp4FormatError } from './box.js';
import { type MovieHeader, type Mp4Track, sampleEntries } from './movie-header.js';
import { decoderConfigAt } from './sample-entry.js';

/** In all tracks. Usual ones have a few hundred. */
const maxDescriptionBytes = 64 * 1024;

/**
 * The fields that two movie headers must share so that fragments made for one can be decoded
 * with the other: tracks, timescales, sample descriptions and defaults. Not the bit rates in a
 * description, which packagers measure, and not the edits, which only shift a track.
 * @param readsAudioOnly whether the video's encoding doesn't matter
 * @throws Mp4FormatError, RangeError for a damaged box
 */
export function movieEssentials({ tracks, defaults }: MovieHeader, readsAudioOnly: boolean): Buffer {
  const relevant = tracks.filter(({ handler }) => !readsAudioOnly || handler === 'soun');
  const ids = new Set(relevant.map(({ id }) => id));
  const relevantDefaults = defaults.filter(({ bytes }) => !readsAudioOnly || ids.has(bytes.readUInt32BE(12)));
  const numbers = relevant.map(({ id, timescale }) => Buffer.from(JSON.stringify([id, timescale])));
  const entries = relevant.flatMap(sampleEntries);
  if (entries.reduce((sum, { bytes }) => sum + bytes.length, 0) > maxDescriptionBytes)
    throw new Mp4FormatError('its sample descriptions are too large');
  const descriptions = relevant.flatMap(sampleDescriptions);
  return Buffer.concat([...numbers, ...descriptions, ...relevantDefaults.map(({ bytes }) => bytes)]);
}

/** Sizes of a sample entry before its child boxes, by handler. */
const entryBytes: Partial<Record<string, number>> = { vide: 86, soun: 36 };

function sampleDescriptions(track: Mp4Track): Buffer[] {
  const size = entryBytes[track.handler];
  return sampleEntries(track).flatMap(({ bytes }) => {
    // QuickTime's longer audio entries have their children at another offset.
    const isPlain = track.handler !== 'soun' || bytes.readUInt16BE(16) === 0;
    return size === undefined || !isPlain
      ? [bytes]
      : // The size includes the omitted box.
        [bytes.subarray(4, size), ...childBoxes(bytes, size).flatMap(withoutBitRate)];
  });
}

function withoutBitRate({ type, bytes }: Box): Buffer[] {
  if (type === 'btrt') return [];
  const at = type === 'esds' ? decoderConfigAt(bytes) : undefined;
  if (at === undefined) return [bytes];
  // Object type, stream type; buffer size, highest and average bit rate (ISO 14496-1, 7.2.6.6).
  return [bytes.subarray(0, at + 2), bytes.subarray(at + 13)];
}
