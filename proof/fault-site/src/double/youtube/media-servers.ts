import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Exchange, Site } from '../exchange.js';
import { medium, typeOf, type MediumName } from '../media.js';
import { mediumOf } from './formats.js';
import { isServed, type Ticket, type Tickets } from './tickets.js';

/** Larger ranges are rejected, as are requests without a range. */
const mostBytes = 10 * 1024 * 1024;
const variants: Readonly<
  Record<number, { itag: number; medium: MediumName; size: string; bandwidth: number }>
> = {
  360: { itag: 230, medium: 'hls-avc-360', size: '640x360', bandwidth: 900_000 },
  720: { itag: 232, medium: 'hls-avc-720', size: '1280x720', bandwidth: 2_500_000 },
  1080: { itag: 270, medium: 'hls-avc-1080', size: '1920x1080', bandwidth: 5_000_000 },
};
const soundItag = 234;

/** googlevideo.com: files in pieces of at most 10 MiB, and HLS with separate audio. */
export class YouTubeMediaServers implements Site {
  readonly hosts = ['manifest.googlevideo.com', 'rr1---sn-double.googlevideo.com'];
  readonly #tickets: Tickets;

  constructor(tickets: Tickets) {
    this.#tickets = tickets;
  }

  async answer(exchange: Exchange): Promise<void> {
    const { pathname } = exchange.url;
    if (pathname === '/videoplayback') return this.#file(exchange);
    const path = pathParameters(pathname);
    const ticket = this.#tickets.find(path.get('ei') ?? '');
    if (ticket === undefined) return exchange.refuse(403);
    if (pathname.startsWith('/api/manifest/hls_variant/')) return exchange.send(hls, master(ticket, path));
    const folder = folderOf(ticket, path);
    if (folder === undefined) return exchange.refuse(404);
    const root = await medium(folder);
    if (pathname.startsWith('/api/manifest/hls_playlist/')) {
      const playlist = await readFile(join(root, 'index.m3u8'), 'utf8');
      const base = address('rr1---sn-double.googlevideo.com', '/videoplayback', path);
      return exchange.send(
        hls,
        playlist.replaceAll(/^[^#\n].*$/gm, (file) => `${base}/file/${file}`),
      );
    }
    if (!isServed(ticket)) return exchange.refuse(403);
    await exchange.file(join(root, basename(pathname)), typeOf(pathname));
  }

  async #file(exchange: Exchange): Promise<void> {
    const { searchParams: query } = exchange.url;
    const solved = { n: query.get('n') ?? '', signature: query.get('sig') ?? '' };
    const ticket = this.#tickets.find(query.get('ei') ?? '', solved);
    if (ticket === undefined || !isServed(ticket)) return exchange.refuse(403);
    const { video } = ticket;
    const name = mediumOf(video, Number(query.get('itag')), video.tracks[Number(query.get('track'))]);
    if (name === undefined) return exchange.refuse(404);
    const range = /^bytes=(\d+)-(\d+)$/.exec(exchange.headers.range ?? '');
    if (range === null || Number(range[2]) - Number(range[1]) >= mostBytes) return exchange.refuse(403);
    await exchange.file(await medium(name), typeOf(name));
  }
}

const hls = 'application/vnd.apple.mpegurl';

/** `/name/value/name/value/…` after the kind of URL. */
function pathParameters(pathname: string): Map<string, string> {
  const parts = pathname.replace(/^\/(?:api\/manifest\/\w+|videoplayback)\//, '').split('/');
  return new Map(parts.flatMap((name, place) => (place % 2 === 0 ? [[name, parts[place + 1] ?? '']] : [])));
}

function address(
  host: string,
  kind: string,
  path: ReadonlyMap<string, string>,
  more: Readonly<Record<string, string>> = {},
): string {
  const kept = [...path].filter(([name]) => ['expire', 'ei', 'id', 'itag', 'track'].includes(name));
  const parameters = [...kept, ...Object.entries(more)].map(([name, value]) => `${name}/${value}`);
  return `https://${host}${kind}/${parameters.join('/')}`;
}

function master({ video }: Ticket, path: ReadonlyMap<string, string>): string {
  const playlist = (parameters: Readonly<Record<string, string>>) =>
    `${address('manifest.googlevideo.com', '/api/manifest/hls_playlist', path, parameters)}/playlist/index.m3u8`;
  const sound = video.tracks.map(({ language, name, isDefault }, place) => {
    const uri = playlist({ itag: String(soundItag), track: String(place) });
    return `#EXT-X-MEDIA:URI="${uri}",TYPE=AUDIO,GROUP-ID="${soundItag}",NAME="${name || 'Default'}",DEFAULT=${isDefault ? 'YES' : 'NO'},AUTOSELECT=YES${name === '' ? '' : `,LANGUAGE="${language}"`}`;
  });
  const pictures = video.hlsHeights.flatMap((height) => {
    const variant = variants[height];
    if (variant === undefined) return [];
    const { itag, size, bandwidth } = variant;
    return [
      `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},CODECS="avc1.4D401F,mp4a.40.2",RESOLUTION=${size},FRAME-RATE=25,AUDIO="${soundItag}"`,
      playlist({ itag: String(itag) }),
    ];
  });
  return ['#EXTM3U', '#EXT-X-VERSION:4', '#EXT-X-INDEPENDENT-SEGMENTS', ...sound, ...pictures, ''].join('\n');
}

function folderOf({ video }: Ticket, path: ReadonlyMap<string, string>): MediumName | undefined {
  const itag = Number(path.get('itag'));
  if (itag !== soundItag) return Object.values(variants).find((variant) => variant.itag === itag)?.medium;
  return video.tracks[Number(path.get('track'))]?.tone === 'dub' ? 'hls-aac-dub' : 'hls-aac-original';
}
