import type { JobResult } from '../parser-process/jobs.js';
import { resolveUrl, type SegmentTable } from '../manifests/segment-table.js';
import type { MediaSource } from '../upstream/media-source.js';
import { RemoteObject } from '../upstream/remote-object.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import { overLimit } from '../formats/rejection.js';
import { Transfer } from '../upstream/transfer.js';
import { protocolFault } from '../upstream/transfer-fault.js';
import type { Parse } from '../parser-process/parser-pool.js';
import { SegmentIndex, SegmentList } from './segment-list.js';

/** The tracks in a stream. A source may deliver audio and video separately. */
export type Carries = 'all' | 'video' | 'audio';

export interface SegmentTrack {
  readonly carries: Carries;
  readonly index: SegmentIndex;
}

/** Everything needed to read a playlist or manifest. */
interface Input {
  readonly source: RenewableSource;
  readonly parse: Parse;
}

/** A playlist or manifest. */
interface Document {
  readonly bytes: Buffer;
  /** After redirects. */
  readonly url: string;
}

/**
 * The segment lists of a source: one, or one for video and one for audio.
 * @throws TransferFault, DomainError, `signal.reason`
 */
export async function segmentTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  return input.source.current.kind === 'hls' ? hlsTracks(input, signal) : dashTracks(input, signal);
}

async function hlsTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const playlist = await readOwnPlaylist(input, signal);
  if (playlist.kind === 'segments') {
    const read = async (readSignal: AbortSignal) =>
      segmentsIn(input, await readOwnPlaylist(input, readSignal));
    const index = new SegmentIndex(input.source, read, listOf(input, playlist.table));
    return [{ carries: 'all', index }];
  }
  const first = masterIn(playlist);
  const indexOf = (what: 'url' | 'audioUrl') => {
    // The master playlist was just read; after a renewal it is read again.
    let master: MasterPlaylist | null = first;
    return new SegmentIndex(input.source, async (readSignal) => {
      const { [what]: url } = master ?? masterIn(await readOwnPlaylist(input, readSignal));
      master = null;
      if (url === null) throw protocolFault('changed the playlist');
      const document = await fetchDocument(input, readSignal, () => url);
      return segmentsIn(input, await parsePlaylist(input, document, readSignal));
    });
  };
  const video = indexOf('url');
  if (first.audioUrl === null) return [{ carries: 'all', index: video }];
  return [
    { carries: 'video', index: video },
    { carries: 'audio', index: indexOf('audioUrl') },
  ];
}

type PlaylistResult = JobResult<'playlist'>;
type MasterPlaylist = Extract<PlaylistResult, { readonly kind: 'variant' }>;

async function readOwnPlaylist(input: Input, signal: AbortSignal): Promise<PlaylistResult> {
  const { url, playlistText } = input.source.current;
  const document =
    playlistText === undefined
      ? await fetchDocument(input, signal)
      : { bytes: Buffer.from(playlistText), url };
  return parsePlaylist(input, document, signal);
}

async function parsePlaylist(
  { source, parse }: Input,
  { bytes, url: baseUrl }: Document,
  signal: AbortSignal,
): Promise<PlaylistResult> {
  const { maxSegments } = source.context.limits;
  const { hlsKey: key } = source.current;
  return parse({ kind: 'playlist', bytes, baseUrl, maxSegments, key }, signal);
}

function masterIn(playlist: PlaylistResult): MasterPlaylist {
  if (playlist.kind !== 'variant') throw protocolFault('changed the playlist');
  return playlist;
}

function segmentsIn(input: Input, playlist: PlaylistResult): SegmentList {
  if (playlist.kind !== 'segments') throw protocolFault('sent a master playlist instead of a media playlist');
  return listOf(input, playlist.table);
}

async function dashTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const read = async (readSignal: AbortSignal) => {
    const { bytes, url } = await fetchDocument(input, readSignal);
    const { wanted = null } = input.source.current;
    const { maxSegments } = input.source.context.limits;
    return input.parse({ kind: 'manifest', bytes, url, wanted, maxSegments }, readSignal);
  };
  const tracks = await read(signal);
  return tracks.map(({ kind, table }) => {
    const readAgain = async (readSignal: AbortSignal) => {
      const again = (await read(readSignal)).find((track) => track.kind === kind);
      if (again === undefined) throw protocolFault('changed the manifest');
      return listOf(input, again.table);
    };
    const carries = tracks.length === 1 ? 'all' : kind;
    return { carries, index: new SegmentIndex(input.source, readAgain, listOf(input, table)) };
  });
}

function listOf({ source }: Input, table: SegmentTable): SegmentList {
  return new SegmentList(table, source.current);
}

/** @param urlOf picks the document of the source; defaults to its own */
async function fetchDocument(
  { source }: Input,
  signal: AbortSignal,
  urlOf: (current: MediaSource) => string = ({ url }) => url,
): Promise<Document> {
  // yt-dlp may have left variables in the URL.
  const object = new RemoteObject(source, { urlOf: (current) => resolveUrl(urlOf(current), current.url) });
  const { maxManifestBytes: maxBytes } = source.context.limits;
  const transfer = await Transfer.open(object, null, signal);
  return { bytes: await transfer.bytes(maxBytes, overLimit(`${maxBytes} bytes`)), url: transfer.url ?? '' };
}
