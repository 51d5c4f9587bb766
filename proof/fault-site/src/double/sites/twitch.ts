import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds, medium } from '../media.js';

const token = { signature: '0123456789abcdef', value: '{"clip":"double"}' };

/** Twitch: one query for a clip; its files require the token from the response. */
export class Twitch implements Site {
  readonly hosts = ['clips.twitch.tv', 'gql.twitch.tv', 'production.assets.clips.twitchcdn.net'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname, searchParams } = exchange.url;
    if (hostname === 'gql.twitch.tv') {
      const [asked] = JSON.parse(await exchange.text()) as { variables: { slug: string } }[];
      return exchange.json([{ data: { clip: asked?.variables.slug === 'DoubleClip' ? clip : null } }]);
    }
    const height = /\/clip-(360|720|1080)\.mp4$/.exec(pathname)?.[1];
    if (height === undefined) return exchange.refuse(404);
    const isAllowed =
      searchParams.get('sig') === token.signature && searchParams.get('token') === token.value;
    if (!isAllowed) return exchange.refuse(401);
    const name = height === '360' ? 'both-360.mp4' : height === '720' ? 'both-720.mp4' : 'both-1080.mp4';
    await exchange.file(await medium(name), 'video/mp4');
  }
}

const clip = {
  id: '1001',
  title: 'A clip',
  durationSeconds: mediaSeconds,
  broadcaster: { id: '1', displayName: 'Somebody' },
  playbackAccessToken: token,
  assets: [
    {
      aspectRatio: 16 / 9,
      videoQualities: ['1080', '720', '360'].map((quality) => ({
        quality,
        frameRate: 25,
        sourceURL: `https://production.assets.clips.twitchcdn.net/double/clip-${quality}.mp4`,
      })),
    },
  ],
};
