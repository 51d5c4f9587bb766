/** The input for a page of the site. */
export interface PageContext {
  /** Origin of the site, without a trailing slash. */
  readonly origin: string;
  readonly query: URLSearchParams;
}

type Page = (context: PageContext) => string;

interface HtmlOptions {
  readonly title?: string;
  readonly head?: string;
  readonly body?: string;
}

function html({ title = 'A page', head = '', body = '' }: HtmlOptions): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`;
}

const longTitle = `Ein sehr langer Titel – 日本語のタイトル 🎬 ${'und noch mehr Wörter '.repeat(30)}Ende`;

/**
 * The pages by path. `?media=` selects another file for the simple ones. Every other query
 * parameter is passed on to the media URL, so that a page can lead to a faulty file.
 */
export const pages: Readonly<Record<string, Page>> = {
  '/watch': (context) => {
    const media = mediaAddress(context, 'front.mp4');
    return html({
      title: context.query.get('title') ?? 'A plain video',
      // Escaped, because "&times" in a URL would be read as a multiplication sign.
      body: `<video controls src="${media.replaceAll('&', '&amp;')}"></video>`,
    });
  },
  '/sources': (context) =>
    html({
      title: 'Several sources',
      body: `<video controls poster="/media/cover.jpg">
        <source src="${mediaAddress(context, '360.mp4', '360.mp4')}" type="video/mp4">
        <source src="${mediaAddress(context, 'vp9.webm', 'vp9.webm')}" type="video/webm"></video>`,
    }),
  '/two-videos': () =>
    html({
      title: 'Two videos',
      body: '<video src="/media/front.mp4"></video><p>and</p><video src="/media/portrait.mp4"></video>',
    }),
  '/open-graph': (context) =>
    html({
      title: 'Open Graph',
      head: `<meta property="og:title" content="Open Graph video">
        <meta property="og:description" content="Described by its meta elements">
        <meta property="og:image" content="${context.origin}/media/cover.jpg">
        <meta property="og:video:type" content="video/mp4">
        <meta property="og:video" content="${mediaAddress(context, 'front.mp4')}">`,
    }),
  '/json-ld': (context) =>
    html({
      title: 'JSON-LD',
      head: `<script type="application/ld+json">${JSON.stringify({
        '@context': 'https://schema.org',
        '@type': 'VideoObject',
        name: 'A VideoObject',
        description: 'Described by JSON-LD',
        thumbnailUrl: `${context.origin}/media/cover.jpg`,
        uploadDate: '2026-01-31T08:00:00+00:00',
        duration: context.query.get('duration') ?? 'PT4S',
        contentUrl: mediaAddress(context, 'front.mp4'),
        author: { '@type': 'Person', name: 'Ada Example' },
      })}</script>`,
    }),
  '/broken-thumbnail': (context) =>
    html({
      title: 'Broken thumbnail',
      head: `<meta property="og:image" content="${context.origin}/media/missing.jpg">`,
      body: '<video src="/media/front.mp4"></video>',
    }),
  '/unicode-title': () => html({ title: longTitle, body: '<video src="/media/front.mp4"></video>' }),
  '/nothing': () => html({ title: 'No video here', body: '<p>Only words.</p>' }),
  '/meta-refresh': ({ query }) =>
    html({ head: `<meta http-equiv="refresh" content="0; url=${query.get('to') ?? '/watch'}">` }),
  '/embeds': ({ query }) => html({ body: `<video src="${query.get('src') ?? ''}"></video>` }),
};

/** The absolute URL of a media file, with the page's other query parameters. */
function mediaAddress({ origin, query }: PageContext, fallback: string, fixed?: string): string {
  const handedOn = new URLSearchParams(query);
  handedOn.delete('media');
  handedOn.delete('title');
  const name = fixed ?? query.get('media') ?? fallback;
  const search = handedOn.toString();
  return `${origin}/media/${name}${search === '' ? '' : `?${search}`}`;
}

/** Playlists and manifests that are written, not encoded. */
export const documents: Readonly<Record<string, { type: string; body: string }>> = {
  '/media/hls-master/index.m3u8': {
    type: 'application/vnd.apple.mpegurl',
    body: [
      '#EXTM3U',
      '#EXT-X-VERSION:4',
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="../hls-audio/index.m3u8"',
      '#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="sound",FRAME-RATE=25',
      '../hls-video-360/index.m3u8',
      '#EXT-X-STREAM-INF:BANDWIDTH=2500000,RESOLUTION=1280x720,CODECS="avc1.42c01f,mp4a.40.2",AUDIO="sound",FRAME-RATE=25',
      '../hls-video-720/index.m3u8',
      '',
    ].join('\n'),
  },
  '/media/hls-live/index.m3u8': {
    type: 'application/vnd.apple.mpegurl',
    body: [
      '#EXTM3U',
      '#EXT-X-TARGETDURATION:2',
      '#EXT-X-MEDIA-SEQUENCE:17',
      '#EXTINF:1,',
      '../hls-ts/index0.ts',
      '',
    ].join('\n'),
  },
  '/feed.xml': {
    type: 'application/rss+xml',
    body: `<?xml version="1.0"?><rss version="2.0"><channel><title>A feed</title>
      <item><title>One</title><link>/watch</link><enclosure url="/media/front.mp4" type="video/mp4"/></item>
      <item><title>Two</title><link>/watch</link><enclosure url="/media/end.mp4" type="video/mp4"/></item></channel></rss>`,
  },
};
