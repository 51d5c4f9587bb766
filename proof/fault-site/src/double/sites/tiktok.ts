import { mediaSeconds, medium } from '../media.js';
import type { Exchange, Site } from '../exchange.js';

const posts: Readonly<Record<string, number>> = { '1': 0, '2': 10204, '3': 10222 };

/** TikTok: the page's data is in a script element; media require the page's cookie and its URL as Referer. */
export class TikTok implements Site {
  readonly hosts = ['www.tiktok.com', 'v16-webapp-prime.tiktok.com'];

  async answer(exchange: Exchange): Promise<void> {
    if (exchange.url.hostname !== 'www.tiktok.com') return this.#media(exchange);
    const id = /^\/@[^/]+\/video\/(\d+)$/.exec(exchange.url.pathname)?.[1];
    if (id === undefined) return exchange.refuse(404);
    const data = {
      statusCode: posts[id] ?? 10204,
      ...(posts[id] === 0 && { itemInfo: { itemStruct: item(id) } }),
    };
    const content = JSON.stringify({ __DEFAULT_SCOPE__: { 'webapp.video-detail': data } });
    await exchange.html(
      `<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__" type="application/json">${content}</script>`,
      { headers: { 'set-cookie': 'tt_chain_token=double; Domain=.tiktok.com; Path=/; Secure' } },
    );
  }

  async #media(exchange: Exchange): Promise<void> {
    const isFromPage = exchange.headers.referer?.startsWith('https://www.tiktok.com/') === true;
    if (!isFromPage || exchange.cookies.get('tt_chain_token') !== 'double') return exchange.refuse(403);
    const height = exchange.url.searchParams.get('height') === '720' ? 720 : 360;
    await exchange.file(await medium(`both-${height}.mp4`), 'video/mp4');
  }
}

function item(id: string): unknown {
  const offer = (height: number) => ({
    PlayAddr: {
      UrlKey: `v0_h264_${height === 360 ? '360p' : '720p'}_900000`,
      UrlList: [`https://v16-webapp-prime.tiktok.com/video/tos/?height=${height}`],
    },
  });
  return {
    id,
    desc: 'A short clip',
    author: { uniqueId: 'somebody', nickname: 'Somebody' },
    video: { width: 1280, height: 720, duration: mediaSeconds, bitrateInfo: [offer(720), offer(360)] },
  };
}
