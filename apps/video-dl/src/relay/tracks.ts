import type { SegmentTable } from '../parsing/segment-table.js';
import { fetchSmall, type SmallObject } from '../upstream/fetch-small.js';
import { RemoteObject } from '../upstream/remote-object.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import { protocolFault } from '../upstream/transfer-fault.js';
import type { RelayContext } from './resource.js';
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
  readonly context: RelayContext;
}

/**
 * The segment lists of a source: one, or one for video and one for audio.
 * @throws TransferFault, DomainError, `signal.reason`
 */
export async function segmentTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  return input.source.current.kind === 'hls' ? hlsTracks(input, signal) : dashTracks(input, signal);
}

async function hlsTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const playlist = await readPlaylist(input, await fetchPlaylist(input, signal), signal);
  if (playlist.kind === 'segments') {
    const read = async (readSignal: AbortSignal) =>
      segmentsIn(input, await fetchPlaylist(input, readSignal), readSignal);
    const index = new SegmentIndex(input.source, read, listOf(input, playlist.table));
    return [{ carries: 'all', index }];
  }
  const indexOf = (what: 'url' | 'audioUrl', initialUrl: string) => {
    // The master playlist was just read; after a renewal it is read again.
    let url: string | null = initialUrl;
    return new SegmentIndex(input.source, async (readSignal) => {
      const variantUrl = url ?? (await variantUrlOf(input, what, readSignal));
      url = null;
      return segmentsIn(input, await fetchDocument(input, readSignal, variantUrl), readSignal);
    });
  };
  const { url, audioUrl } = playlist;
  const video = indexOf('url', url);
  if (audioUrl === null) return [{ carries: 'all', index: video }];
  return [
    { carries: 'video', index: video },
    { carries: 'audio', index: indexOf('audioUrl', audioUrl) },
  ];
}

async function variantUrlOf(input: Input, what: 'url' | 'audioUrl', signal: AbortSignal): Promise<string> {
  const master = await readPlaylist(input, await fetchPlaylist(input, signal), signal);
  const url = master.kind === 'variant' ? master[what] : null;
  if (url === null) throw protocolFault('changed the playlist');
  return url;
}

async function readPlaylist({ source, context }: Input, document: SmallObject, signal: AbortSignal) {
  const { maxSegments } = context.limits;
  const { bytes, url: baseUrl } = document;
  return context.parse({ kind: 'playlist', bytes, baseUrl, maxSegments, key: source.current.hlsKey }, signal);
}

async function segmentsIn(input: Input, document: SmallObject, signal: AbortSignal): Promise<SegmentList> {
  const playlist = await readPlaylist(input, document, signal);
  if (playlist.kind === 'variant') throw protocolFault('sent a master playlist instead of a media playlist');
  return listOf(input, playlist.table);
}

async function dashTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const read = async (readSignal: AbortSignal) => {
    const { bytes, url } = await fetchDocument(input, readSignal);
    const { wanted = null } = input.source.current;
    const { maxSegments } = input.context.limits;
    return input.context.parse({ kind: 'manifest', bytes, url, wanted, maxSegments }, readSignal);
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
  const { segmentQuery = null, keyQuery = null } = source.current;
  return new SegmentList(table, { segments: segmentQuery, keys: keyQuery });
}

/** The source's own playlist, which the extractor may have supplied. */
async function fetchPlaylist(input: Input, signal: AbortSignal): Promise<SmallObject> {
  const { playlistText, url } = input.source.current;
  if (playlistText === undefined) return fetchDocument(input, signal);
  return { bytes: Buffer.from(playlistText), contentType: undefined, url };
}

/** @param url of another document of the same source; defaults to its own */
async function fetchDocument(
  { source, context }: Input,
  signal: AbortSignal,
  url?: string,
): Promise<SmallObject> {
  const object = new RemoteObject(source.renewableUrl((current) => url ?? current.url));
  return fetchSmall(object, { range: null, maxBytes: context.limits.maxManifestBytes, context, signal });
}
