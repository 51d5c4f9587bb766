import { type Box, requiredBox } from '../box.js';
import { isSelfContained, maxEdits, type MovieHeader, type Mp4Track } from '../movie-header.js';
import { NotRemuxableError } from './layout.js';
import { readSampleDescription, type SampleDescription } from './sample-description.js';

/** A video or audio track of a source file. */
export interface SourceTrack extends Mp4Track {
  readonly handler: 'vide' | 'soun';
  readonly stbl: Box;
  readonly description: SampleDescription;
}

/** A track and the file that it is read from. */
export interface ChosenTrack extends SourceTrack {
  readonly source: number;
}

/** Players know a few codecs, and the decoders of ffmpeg nearly all. */
type Reader = 'player' | 'decoder';

/**
 * The video and the audio track of a movie. Other tracks (time codes, GPS positions, subtitles) are ignored.
 * @throws NotRemuxableError if there are several tracks of one kind, or one has features that we don't support
 */
export function sourceTracks({ tracks }: MovieHeader, reader: Reader): SourceTrack[] {
  const found = tracks.flatMap((track) => {
    const { handler } = track;
    return handler === 'vide' || handler === 'soun' ? [sourceTrack({ ...track, handler }, reader)] : [];
  });
  for (const handler of reader === 'player' ? ['vide', 'soun'] : ['vide'])
    if (found.filter((track) => track.handler === handler).length > 1)
      throw new NotRemuxableError('it has several tracks of one kind');
  return found;
}

function sourceTrack(track: Mp4Track & Pick<SourceTrack, 'handler'>, reader: Reader): SourceTrack {
  if (!isSelfContained(track)) throw new NotRemuxableError('its media are in another file');
  if (track.edits.length === maxEdits) throw new NotRemuxableError('a track has too many edits');
  if (track.edits.some(({ speed }) => speed !== 1)) throw new NotRemuxableError('an edit changes the speed');
  const stbl = requiredBox(track.trak, 'mdia', 'minf', 'stbl');
  const stsd = requiredBox(stbl, 'stsd').bytes;
  const description =
    reader === 'player'
      ? readSampleDescription(stsd, track.handler)
      : { bytes: stsd, codec: 'unknown', entries: stsd.readUInt32BE(12) };
  return { ...track, stbl, description };
}
