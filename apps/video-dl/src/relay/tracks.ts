import type { Playlist } from '../manifests/hls-playlist.js';
import { resolveUrl, type SegmentTable } from '../manifests/segment-table.js';
import { RemoteObject } from '../upstream/remote-object.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import { overLimit } from '../formats/rejection.js';
import { Transfer } from '../upstream/transfer.js';
import { protocolFault } from '../upstream/transfer-fault.js';
import type { Parse } from '../parser-process/parser-pool.js';
import { SegmentIndex } from './segment-list.js';

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

/**
 * The segment lists of a source: one, or one for video and one for audio.
 * @throws TransferFault, DomainError, `signal.reason`
 */
export async function segmentTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  return input.source.current.kind === 'hls' ? hlsTracks(input, signal) : dashTracks(input, signal);
}

async function hlsTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const playlist = await readPlaylist(input, signal);
  if (playlist.kind === 'segments') {
    const read = async (readSignal: AbortSignal) => segmentsIn(await readPlaylist(input, readSignal));
    return [{ carries: 'all', index: new SegmentIndex(input.source, read, playlist.table) }];
  }
  const indexOf = (what: 'url' | 'audioUrl') => {
    // The master playlist was just read; after a renewal it is read again.
    let master: Playlist | null = playlist;
    return new SegmentIndex(input.source, async (readSignal) => {
      const current = master ?? (await readPlaylist(input, readSignal));
      master = null;
      const url = current.kind === 'variant' ? current[what] : null;
      if (url === null) throw protocolFault('changed the playlist');
      return segmentsIn(await readPlaylist(input, readSignal, url));
    });
  };
  const video = indexOf('url');
  if (playlist.audioUrl === null) return [{ carries: 'all', index: video }];
  return [
    { carries: 'video', index: video },
    { carries: 'audio', index: indexOf('audioUrl') },
  ];
}

/** @param url in a master playlist; absent for the source's own playlist */
async function readPlaylist(input: Input, signal: AbortSignal, url?: string): Promise<Playlist> {
  const { source, parse } = input;
  const { playlistText, url: ownUrl } = source.current;
  const { bytes, url: baseUrl } =
    url === undefined && playlistText !== undefined
      ? { bytes: Buffer.from(playlistText), url: ownUrl }
      : await readDocument(input, signal, url);
  const { maxSegments } = source.context.limits;
  return parse({ kind: 'playlist', bytes, baseUrl, maxSegments, key: source.current.hlsKey }, signal);
}

function segmentsIn(playlist: Playlist): SegmentTable {
  if (playlist.kind !== 'segments') throw protocolFault('sent a master playlist instead of a media playlist');
  return playlist.table;
}

async function dashTracks(input: Input, signal: AbortSignal): Promise<SegmentTrack[]> {
  const { source, parse } = input;
  const { maxSegments } = source.context.limits;
  const read = async (readSignal: AbortSignal) => {
    const { bytes, url } = await readDocument(input, readSignal);
    const { wanted } = source.current;
    if (wanted === undefined) throw new Error('a DASH source names its track');
    return parse({ kind: 'manifest', bytes, url, wanted, maxSegments }, readSignal);
  };
  return [{ carries: 'all', index: new SegmentIndex(source, read, await read(signal)) }];
}

/** @param url defaults to the source's own. @returns the URL after redirects, too */
async function readDocument({ source }: Input, signal: AbortSignal, url?: string) {
  // yt-dlp may have left variables in the URL.
  const object = new RemoteObject(source, {
    urlOf: (current) => resolveUrl(url ?? current.url, current.url),
  });
  const { maxManifestBytes: maxBytes } = source.context.limits;
  const transfer = await Transfer.open(object, null, signal);
  return { bytes: await transfer.bytes(maxBytes, overLimit(`${maxBytes} bytes`)), url: transfer.url ?? '' };
}
