import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds, medium } from '../media.js';

/** Instagram: an anonymous session, then a post with several slides; the first one is a photo. */
export class Instagram implements Site {
  readonly hosts = ['www.instagram.com', 'instagram.com', 'scontent.cdninstagram.com'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname } = exchange.url;
    if (hostname === 'scontent.cdninstagram.com') {
      const isFromSite = exchange.headers.referer === 'https://www.instagram.com/';
      return isFromSite ? exchange.file(await medium('both-720.mp4'), 'video/mp4') : exchange.refuse(403);
    }
    if (pathname === '/') {
      return exchange.html('<script>["LSD",[],{"token":"double"},323]</script>', {
        headers: { 'set-cookie': 'csrftoken=double; Domain=.instagram.com; Path=/; Secure' },
      });
    }
    if (pathname === '/api/v1/web/get_ruling_for_content/') return exchange.json({ status: 'ok' });
    if (pathname === '/api/graphql') {
      const asked = new URLSearchParams(await exchange.text());
      const { media_id: id } = JSON.parse(asked.get('variables') ?? '{}') as { media_id?: string };
      const media = id === carouselId ? { if_not_gated_logged_out: carousel } : null;
      return exchange.json({ data: { xig_polaris_media: media } });
    }
    await (pathname.startsWith('/p/') ? exchange.html('') : exchange.refuse(404));
  }
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The number encoded in a post's URL: base 64, most significant digit first. */
function numberOf(code: string): string {
  return String(
    Array.from(code).reduce((number, letter) => number * 64n + BigInt(letters.indexOf(letter)), 0n),
  );
}

const carouselId = numberOf('DoubleCarou');

const carousel = {
  pk: carouselId,
  user: { username: 'somebody', full_name: 'Somebody', pk: '1' },
  caption: { text: 'A photograph, then a clip' },
  taken_at: 1_769_846_400,
  carousel_media: [
    {
      pk: '1000000000000000101',
      image_versions2: {
        candidates: [{ url: 'https://scontent.cdninstagram.com/photo.jpg', width: 640, height: 360 }],
      },
    },
    {
      pk: '1000000000000000102',
      video_duration: mediaSeconds,
      has_audio: true,
      video_versions: [
        { url: 'https://scontent.cdninstagram.com/clip.mp4', type: 101, width: 1280, height: 720 },
      ],
    },
  ],
};
