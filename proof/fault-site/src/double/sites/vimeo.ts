import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds } from '../media.js';
import { masterPlaylist, sendHls } from './hls-files.js';

/** Vimeo's player: its page contains settings that name a playlist with separate audio. */
export class Vimeo implements Site {
  readonly hosts = ['player.vimeo.com', 'vimeo.com', 'skyfire.vimeocdn.com'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname } = exchange.url;
    if (pathname === '/video/100000002') {
      return exchange.refuse(403, 'Because of its privacy settings, this video cannot be played here');
    }
    if (pathname === '/video/100000001') {
      return exchange.html(`<script>window.playerConfig = ${JSON.stringify(settings)}</script>`);
    }
    if (pathname.startsWith('/texttrack/'))
      return exchange.send(
        'text/vtt',
        `WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\nTrack ${pathname.slice(11, 12)}\n`,
      );
    if (hostname !== 'skyfire.vimeocdn.com') return exchange.refuse(404);
    if (pathname.endsWith('/master.m3u8')) {
      return exchange.send('application/vnd.apple.mpegurl', masterPlaylist('/exp=4102444800/media'));
    }
    await sendHls(exchange);
  }
}

const settings = {
  video: {
    id: 100_000_001,
    title: 'A film with separate audio',
    duration: mediaSeconds,
    owner: { name: 'Somebody', url: 'https://vimeo.com/somebody' },
  },
  request: {
    text_tracks: [
      { lang: 'en-x-autogen', url: '/texttrack/1.vtt', kind: 'captions', label: 'English (auto-generated)' },
      { lang: 'pt-BR', url: '/texttrack/2.vtt', kind: 'subtitles', label: 'Português' },
    ],
    files: {
      hls: { cdns: { fastly: { url: 'https://skyfire.vimeocdn.com/exp=4102444800/playlist/master.m3u8' } } },
    },
  },
};
