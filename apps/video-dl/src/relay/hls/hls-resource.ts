import type { LiveSource } from '../../upstream/live-source.js';
import { RemoteObject } from '../../upstream/remote-object.js';
import { notFound, type Resource, type ResourceRequest } from '../resource.js';
import { serveObject } from '../serve-object.js';
import type { TransferContext } from '../../upstream/transfer-context.js';
import { HlsPlaylist } from './hls-playlist.js';

/** So many segments ffmpeg may read of a rendition only to learn what is in it. */
const probedSegments = 3;

/**
 * An HLS source. Playlist n is `n.m3u8`, its entry i is `n/i.<extension>`;
 * byte ranges are resolved here, so that every segment is a whole file to ffmpeg.
 */
export class HlsResource implements Resource {
  readonly entryPath = '0.m3u8';
  readonly #live: LiveSource;
  readonly #context: TransferContext;
  readonly #playlists: HlsPlaylist[];
  /** Of playlists that masters name: `<playlist>/<entry>` to its number. */
  readonly #numbers = new Map<string, number>();

  constructor(live: LiveSource, context: TransferContext) {
    this.#live = live;
    this.#context = context;
    this.#playlists = [new HlsPlaylist(live, context, null)];
  }

  async serve(request: ResourceRequest): Promise<void> {
    const [, number = '', entry] = /^(\d{1,6})(?:\.m3u8|\/(\d{1,6})\.\w+)$/.exec(request.path) ?? [];
    const playlist = this.#playlists[Number(number || -1)];
    if (!playlist) {
      notFound(request.response);
      return;
    }
    if (entry === undefined) await this.#servePlaylist(playlist, Number(number), request);
    else await this.#serveEntry(playlist, Number(entry), request);
  }

  /**
   * Every segment of the playlist was delivered; of a master's renditions,
   * every one that ffmpeg went on reading after it had seen what is in it, and at least one.
   */
  isComplete(): boolean {
    const media = this.#playlists.filter(({ parsed }) => parsed?.kind === 'media');
    if (this.#playlists[0]?.parsed?.kind === 'media') return media.every(isDelivered);
    const inUse = media.filter(({ delivered }) => delivered.size > probedSegments);
    return inUse.every(isDelivered) && media.some(isDelivered);
  }

  async #servePlaylist(
    playlist: HlsPlaylist,
    number: number,
    { response, signal, method }: ResourceRequest,
  ): Promise<void> {
    const parsed = await playlist.load(signal);
    const text = parsed.render((index) => {
      const entry = parsed.entries[index];
      return entry?.role === 'playlist'
        ? `${this.#numberOf(playlist, number, index)}.m3u8`
        : `${number}/${index}.${entry?.extension ?? 'ts'}`;
    });
    const body = Buffer.from(text);
    response.writeHead(200, {
      'content-type': 'application/vnd.apple.mpegurl',
      'content-length': body.length,
    });
    response.end(method === 'HEAD' ? undefined : body);
  }

  async #serveEntry(playlist: HlsPlaylist, index: number, request: ResourceRequest): Promise<void> {
    const entry = playlist.parsed?.entries[index];
    if (!entry || entry.role === 'playlist') {
      notFound(request.response);
      return;
    }
    const object = new RemoteObject(playlist.addressOf(index));
    const isWhole = await serveObject(object, request, this.#context, entry.window);
    if (isWhole && entry.role === 'segment') playlist.delivered.add(index);
  }

  #numberOf(playlist: HlsPlaylist, number: number, entry: number): number {
    const key = `${number}/${entry}`;
    const existing = this.#numbers.get(key);
    if (existing !== undefined) return existing;
    const created = this.#playlists.push(new HlsPlaylist(this.#live, this.#context, { playlist, entry })) - 1;
    this.#numbers.set(key, created);
    return created;
  }
}

function isDelivered({ parsed, delivered }: HlsPlaylist): boolean {
  const segments = parsed?.entries.filter(({ role }) => role === 'segment').length ?? 0;
  return segments > 0 && delivered.size === segments;
}
