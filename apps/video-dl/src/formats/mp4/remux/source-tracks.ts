import { requiredBox } from '../box.js';
import { isSelfContained, maxEdits, type MovieHeader, type Mp4Track } from '../movie-header.js';
import { NotRemuxableError } from './layout.js';
import { readSampleDescription, type SampleDescription } from './sample-description.js';

/** A video or audio track of a source file. */
export interface SourceTrack extends Mp4Track {
  readonly handler: 'vide' | 'soun';
  readonly description: SampleDescription;
  /** Number of the file. */
  readonly source: number;
}

/** Players know a few codecs, and the decoders of ffmpeg nearly all. */
type Reader = 'player' | 'decoder';

/**
 * The video and the audio track of a movie. Other tracks (time codes, GPS positions, subtitles) are ignored.
 * @throws NotRemuxableError if there are several tracks of one kind, or one has features that we don't support
 */
export function sourceTracks({ tracks }: MovieHeader, source: number, reader: Reader): SourceTrack[] {
  const found = tracks.flatMap((track): SourceTrack[] => {
    const { handler } = track;
    if (handler !== 'vide' && handler !== 'soun') return [];
    return [{ ...track, handler, description: describe(track, handler, reader), source }];
  });
  for (const handler of reader === 'player' ? ['vide', 'soun'] : ['vide'])
    if (found.filter((track) => track.handler === handler).length > 1)
      throw new NotRemuxableError('it has several tracks of one kind');
  return found;
}

function describe(track: Mp4Track, handler: SourceTrack['handler'], reader: Reader): SampleDescription {
  if (!isSelfContained(track)) throw new NotRemuxableError('its media are in another file');
  if (track.edits.length === maxEdits) throw new NotRemuxableError('a track has too many edits');
  if (track.edits.some(({ speed }) => speed !== 1)) throw new NotRemuxableError('an edit changes the speed');
  const { bytes } = requiredBox(track.stbl, 'stsd');
  if (reader === 'player') return readSampleDescription(bytes, handler);
  return { bytes, codec: 'unknown', entries: bytes.readUInt32BE(12) };
}
