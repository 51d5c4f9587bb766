import { basename, join } from 'node:path';
import type { Exchange } from '../exchange.js';
import { medium, typeOf, type MediumName } from '../media.js';

const sizes = { 360: '640x360', 720: '1280x720', 1080: '1920x1080' } as const;
type Height = keyof typeof sizes;

/**
 * A master playlist for media served by `sendHls` under `root`: video in several sizes, and
 * separate audio.
 */
export function masterPlaylist(root: string, heights: readonly Height[] = [360, 720, 1080]): string {
  const codecs = 'avc1.4D401F,mp4a.40.2';
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:4',
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="Sound",DEFAULT=YES,AUTOSELECT=YES,URI="${root}/hls-aac-original/index.m3u8"`,
    ...heights.flatMap((height) => [
      `#EXT-X-STREAM-INF:BANDWIDTH=${height * 3000},RESOLUTION=${sizes[height]},CODECS="${codecs}",AUDIO="sound"`,
      `${root}/hls-avc-${height}/index.m3u8`,
    ]),
    '',
  ].join('\n');
}

const folders: readonly MediumName[] = [
  'hls-aac-original',
  'hls-aac-dub',
  'hls-aac-described',
  'hls-avc-360',
  'hls-avc-720',
  'hls-avc-1080',
  'hls-mp3',
];

/** Sends the file named by the end of the URL's path; 404 if no such file exists. */
export async function sendHls(exchange: Exchange): Promise<void> {
  const { pathname } = exchange.url;
  const folder = folders.find((name) => pathname.split('/').at(-2) === name);
  if (folder === undefined) return exchange.refuse(404);
  const file = join(await medium(folder), basename(pathname));
  await exchange.file(file, pathname.endsWith('.m3u8') ? 'application/vnd.apple.mpegurl' : typeOf(pathname));
}
