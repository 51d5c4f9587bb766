import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds } from '../media.js';
import { sendHls } from './hls-files.js';

const clientId = 'double0123456789double0123456789';

/** SoundCloud: a client id from a script, a track as JSON, and audio playlists. */
export class SoundCloud implements Site {
  readonly hosts = ['soundcloud.com', 'a-v2.sndcdn.com', 'api-v2.soundcloud.com', 'cf-hls-media.sndcdn.com'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname, searchParams } = exchange.url;
    if (hostname === 'soundcloud.com') {
      return exchange.html('<script src="https://a-v2.sndcdn.com/assets/0-double.js"></script>');
    }
    if (hostname === 'a-v2.sndcdn.com')
      return exchange.send('text/javascript', `x={client_id:"${clientId}"}`);
    if (hostname === 'cf-hls-media.sndcdn.com') return sendHls(exchange);
    if (searchParams.get('client_id') !== clientId) return exchange.refuse(401);
    if (pathname === '/resolve') {
      const track = tracks[searchParams.get('url') ?? ''];
      return track === undefined ? exchange.refuse(404) : exchange.json(track);
    }
    const folder = /^\/media\/([\w-]+)\/stream\/hls$/.exec(pathname)?.[1];
    if (folder === undefined) return exchange.refuse(404);
    await exchange.json({ url: `https://cf-hls-media.sndcdn.com/playlist/${folder}/index.m3u8` });
  }
}

const track = {
  id: 1001,
  title: 'A tone',
  duration: mediaSeconds * 1000,
  user: { id: 1, username: 'somebody' },
  permalink_url: 'https://soundcloud.com/somebody/a-tone',
  media: {
    transcodings: [
      {
        url: 'https://api-v2.soundcloud.com/media/hls-aac-original/stream/hls',
        preset: 'aac_160k',
        format: { protocol: 'hls', mime_type: 'audio/mp4; codecs="mp4a.40.2"' },
      },
      {
        url: 'https://api-v2.soundcloud.com/media/hls-mp3/stream/hls',
        preset: 'mp3_1_0',
        format: { protocol: 'hls', mime_type: 'audio/mpeg' },
      },
    ],
  },
};

const tracks: Readonly<Record<string, unknown>> = {
  'https://soundcloud.com/somebody/a-tone': track,
  'https://soundcloud.com/somebody/elsewhere': {
    ...track,
    id: 1002,
    policy: 'BLOCK',
    media: { transcodings: [] },
  },
};
