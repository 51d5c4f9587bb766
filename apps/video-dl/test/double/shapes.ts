import type { IncomingHttpHeaders } from 'node:http';
import { type Double, lookupBehindProxy, videoId, type VideoName } from '@media-services/fault-site/double';
import type { ContextOverrides } from '../../src/service.js';
import { startService, type TestService } from '../support/service.js';

/** One way in which a site delivers its media. */
export interface Shape {
  readonly site: string;
  readonly shape: string;
  readonly page: string;
  /** Pixels of the MP4 for 720 and for 1080; null if the page has no video. */
  readonly heights: readonly [mp4720: number, mp41080: number] | null;
  /** Debian's yt-dlp of March 2023 supports it too. */
  readonly isOld?: true;
}

export const watchPage = (name: VideoName, number = 1): string =>
  `https://www.youtube.com/watch?v=${videoId(name, number)}`;

const youTube = (shape: string, name: VideoName, heights: readonly [number, number]): Shape => ({
  site: 'YouTube',
  shape,
  page: watchPage(name),
  heights,
});

export const shapes: readonly Shape[] = [
  youTube('files and HLS', 'plain', [720, 1080]),
  youTube('files only', 'files', [720, 1080]),
  youTube('one file with everything', 'single', [360, 360]),
  youTube('VP9 and Opus', 'webm', [1080, 1080]),
  youTube('HLS only, separate audio', 'playlst', [720, 1080]),
  youTube('dubbed, files and HLS', 'dubbed', [720, 1080]),
  youTube('dubbed, files only', 'dubfile', [720, 1080]),
  youTube('dubbed, HLS only', 'dubhls', [720, 1080]),
  youTube('compressed and described audio beside the original', 'mixes', [720, 1080]),
  youTube('3 s of advertisements first', 'ad-3', [720, 1080]),
  {
    site: 'TikTok',
    shape: 'files that want the cookie and the Referer of the page',
    page: 'https://www.tiktok.com/@somebody/video/1',
    heights: [720, 720],
  },
  {
    site: 'X',
    shape: 'HLS, separate audio; a small file',
    page: 'https://x.com/somebody/status/1000000000000000001',
    heights: [720, 1080],
  },
  {
    site: 'Vimeo',
    shape: 'HLS, separate audio',
    page: 'https://player.vimeo.com/video/100000001',
    heights: [720, 1080],
    isOld: true,
  },
  {
    site: 'Reddit',
    shape: 'DASH, separate audio',
    page: 'https://www.reddit.com/r/somewhere/comments/double1/a_clip/',
    heights: [720, 720],
  },
  {
    site: 'Instagram',
    shape: 'several slides, the first a photograph',
    page: 'https://www.instagram.com/p/DoubleCarou/',
    heights: [720, 720],
  },
  {
    site: 'SoundCloud',
    shape: 'HLS, audio only',
    page: 'https://soundcloud.com/somebody/a-tone',
    heights: null,
    isOld: true,
  },
  {
    site: 'Twitch',
    shape: 'a clip: files with a token',
    page: 'https://clips.twitch.tv/DoubleClip',
    heights: [720, 1080],
  },
];

/** The first extraction solves a player script, which takes long on a machine that is busy with other tests. */
const patience = { EXTRACTION_TIMEOUT_SECONDS: '240', FIRST_BYTE_TIMEOUT_SECONDS: '240' };

/** A service for which the double is the internet. */
export async function startBehind(
  double: Double,
  env: Readonly<Record<string, string>> = {},
  overrides: ContextOverrides & { readonly cold?: boolean } = {},
): Promise<TestService> {
  return startService(
    { ...double.settings, ...patience, ...env },
    { lookup: lookupBehindProxy, ...overrides },
  );
}

/** What a stream waited for the end of advertisements, as its `Server-Timing` tells. */
export function waitedSeconds(headers: IncomingHttpHeaders): number {
  const ms = /\bavailability;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1];
  return Number(ms ?? 0) / 1000;
}
