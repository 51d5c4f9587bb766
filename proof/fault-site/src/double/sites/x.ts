import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds, medium } from '../media.js';
import { masterPlaylist, sendHls } from './hls-files.js';

/** X: a guest token, then a response that names a playlist (with separate audio) and a small file. */
export class X implements Site {
  readonly hosts = ['x.com', 'twitter.com', 'api.x.com', 'video.twimg.com'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname, searchParams } = exchange.url;
    if (pathname === '/1.1/guest/activate.json') return exchange.json({ guest_token: '1234567890' });
    if (pathname.startsWith('/i/api/graphql/')) {
      if (exchange.headers['x-guest-token'] === undefined) return exchange.refuse(403);
      const { tweetId } = JSON.parse(searchParams.get('variables') ?? '{}') as { tweetId?: string };
      return exchange.json({
        data: { tweetResult: { result: results[tweetId ?? ''] ?? { __typename: 'TweetUnavailable' } } },
      });
    }
    if (hostname !== 'video.twimg.com') return exchange.refuse(404);
    if (pathname.endsWith('/master.m3u8')) {
      return exchange.send('application/vnd.apple.mpegurl', masterPlaylist('/ext_tw_video/1/pu/pl'));
    }
    if (pathname.endsWith('.mp4')) return exchange.file(await medium('both-360.mp4'), 'video/mp4');
    await sendHls(exchange);
  }
}

const video = {
  __typename: 'Tweet',
  core: { user_results: { result: { legacy: { name: 'Somebody', screen_name: 'somebody' } } } },
  legacy: {
    id_str: '1000000000000000001',
    full_text: 'A clip with separate audio',
    created_at: 'Sat Jan 31 08:00:00 +0000 2026',
    extended_entities: {
      media: [
        {
          id_str: '1000000000000000002',
          type: 'video',
          video_info: {
            duration_millis: mediaSeconds * 1000,
            variants: [
              {
                content_type: 'application/x-mpegURL',
                url: 'https://video.twimg.com/ext_tw_video/1/pu/pl/master.m3u8?tag=12',
              },
              {
                content_type: 'video/mp4',
                bitrate: 832_000,
                url: 'https://video.twimg.com/ext_tw_video/1/pu/vid/avc1/640x360/small.mp4?tag=12',
              },
            ],
          },
        },
      ],
    },
  },
};

/** By the post's id. */
const results: Readonly<Record<string, unknown>> = {
  '1000000000000000001': video,
  '1000000000000000003': { __typename: 'TweetUnavailable', reason: 'NsfwLoggedOut' },
  '1000000000000000004': { __typename: 'TweetUnavailable', reason: 'Protected' },
  '1000000000000000005': {
    __typename: 'Tweet',
    core: video.core,
    legacy: { id_str: '1000000000000000005', full_text: 'Only words' },
  },
};
