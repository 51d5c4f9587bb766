import { fetchSmall, type SmallObject } from '../upstream/fetch-small.js';
import { RemoteObject } from '../upstream/remote-object.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import type { TransferContext } from '../upstream/transfer-context.js';
import { brokenRules } from '../upstream/transfer-fault.js';
import { chooseTracks, segmentsOf, type DashTrack } from './dash/manifest-segments.js';
import { readManifest } from './dash/read-manifest.js';
import { chooseVariant, parsePlaylist } from './hls/parse-playlist.js';
import { SegmentIndex, type Segment, type SegmentList } from './segment-list.js';

/** What a stream holds: a source may bring pictures and sound apart. */
export type Carries = 'all' | 'video' | 'audio';

export interface SegmentTrack {
  readonly carries: Carries;
  readonly index: SegmentIndex;
}

/** Everything that reading a playlist or manifest takes. */
interface Input {
  readonly source: RenewableSource;
  readonly context: TransferContext;
}

/**
 * The lists of segments that a source in pieces comes to: one, or one with the pictures and one with the sound.
 * @throws TransferFault, `signal.reason`
 */
export async function segmentTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const { kind, fragments } = input.source.current;
  if (kind === 'fragments' || (fragments !== undefined && fragments.length > 0)) return fragmentTracks(input);
  return kind === 'hls' ? hlsTracks(input, signal) : dashTracks(input, signal);
}

function fragmentTracks({ source }: Input): SegmentTrack[] {
  const read = (): Promise<SegmentList> =>
    Promise.resolve((source.current.fragments ?? []).map(({ url }): Segment => ({ url, ...plainSegment })));
  return [{ carries: 'all', index: new SegmentIndex(source, read) }];
}

const plainSegment = {
  range: null,
  key: null,
  initialisation: null,
  seconds: null,
  isRounded: false,
  isDiscontinuity: false,
};

async function hlsTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const root = await fetchDocument(input, signal);
  const playlist = parse(input, root);
  const makeIndex = (read: (signal: AbortSignal) => Promise<SegmentList>, initial: SegmentList | null) =>
    new SegmentIndex(input.source, read, initial);
  if (playlist.kind === 'media') {
    const read = async (readSignal: AbortSignal) => segmentsIn(input, await fetchDocument(input, readSignal));
    return [{ carries: 'all', index: makeIndex(read, playlist.segments) }];
  }
  const readVariant = (what: 'url' | 'audioUrl') => async (readSignal: AbortSignal) => {
    const master = parse(input, await fetchDocument(input, readSignal));
    const url = master.kind === 'master' ? chooseVariant(master)[what] : null;
    if (url === null) throw brokenRules('changed the playlist');
    return segmentsIn(input, await fetchDocument(input, readSignal, url));
  };
  const { url, audioUrl } = chooseVariant(playlist);
  if (audioUrl === null || audioUrl === url)
    return [{ carries: 'all', index: makeIndex(readVariant('url'), null) }];
  return [
    { carries: 'video', index: makeIndex(readVariant('url'), null) },
    { carries: 'audio', index: makeIndex(readVariant('audioUrl'), null) },
  ];
}

function parse({ context }: Input, { bytes, url }: SmallObject) {
  return parsePlaylist(bytes.toString(), url, context.limits.maxSegments);
}

function segmentsIn(input: Input, document: SmallObject): SegmentList {
  const playlist = parse(input, document);
  if (playlist.kind === 'master') throw brokenRules('sent a playlist of playlists where segments should be');
  return playlist.segments;
}

async function dashTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const { source } = input;
  const { maxSegments } = input.context.limits;
  const { bytes, url } = await fetchDocument(input, signal);
  const manifest = readManifest(bytes.toString());
  const chosen = chooseTracks(manifest, url, source.current.origin?.formatId);
  return chosen.map((track: DashTrack) => {
    const read = async (readSignal: AbortSignal) => {
      const again = await fetchDocument(input, readSignal);
      return segmentsOf(readManifest(again.bytes.toString()), again.url, track, maxSegments);
    };
    const initial = segmentsOf(manifest, url, track, maxSegments);
    const carries = chosen.length === 1 ? 'all' : track.kind;
    return { carries, index: new SegmentIndex(source, read, initial) };
  });
}

/** @param url of another document of the same source; its own when not given */
async function fetchDocument(
  { source, context }: Input,
  signal: AbortSignal,
  url?: string,
): Promise<SmallObject> {
  const object = new RemoteObject(source.renewableUrl((current) => url ?? current.url));
  return fetchSmall(object, { range: null, maxBytes: context.limits.maxManifestBytes, context, signal });
}
