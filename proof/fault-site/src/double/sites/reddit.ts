import { readFile } from 'node:fs/promises';
import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds, medium, type MediumName } from '../media.js';

/** Reddit: a cookie, a post as JSON, and a DASH manifest of complete files with separate audio. */
export class Reddit implements Site {
  readonly hosts = ['www.reddit.com', 'old.reddit.com', 'v.redd.it'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname } = exchange.url;
    if (hostname === 'old.reddit.com') {
      return exchange.html('', {
        headers: { 'set-cookie': 'loid=double; Domain=.reddit.com; Path=/; Secure' },
      });
    }
    if (hostname === 'www.reddit.com') {
      if (exchange.cookies.get('loid') !== 'double') return exchange.refuse(403);
      if (pathname.includes('/comments/private1/'))
        return exchange.json({ reason: 'private', error: 403 }, { status: 403 });
      return pathname.includes('/comments/double1/') ? exchange.json(post) : exchange.refuse(404);
    }
    if (pathname === '/double1/DASHPlaylist.mpd')
      return exchange.send('application/dash+xml', await manifest());
    const name = files[pathname.slice('/double1/'.length)];
    if (name === undefined) return exchange.refuse(404);
    await exchange.file(await medium(name), 'video/mp4');
  }
}

const files: Readonly<Record<string, MediumName>> = {
  'DASH_360.mp4': 'avc-360.mp4',
  'DASH_720.mp4': 'avc-720.mp4',
  'DASH_AUDIO_128.mp4': 'aac-original.m4a',
};

const post = [
  {
    data: {
      children: [
        {
          data: {
            title: 'A clip with separate audio',
            author: 'somebody',
            url: 'https://v.redd.it/double1',
            secure_media: {
              reddit_video: {
                dash_url: 'https://v.redd.it/double1/DASHPlaylist.mpd?a=1',
                hls_url: 'https://v.redd.it/double1/HLSPlaylist.m3u8?a=1',
                fallback_url: 'https://v.redd.it/double1/DASH_720.mp4?source=fallback',
                height: 720,
                width: 1280,
                bitrate_kbps: 2400,
                duration: mediaSeconds,
              },
            },
          },
        },
      ],
    },
  },
];

async function manifest(): Promise<string> {
  const picture = async (height: number) =>
    `<Representation id="${height}" bandwidth="${height * 2000}" width="${(height * 16) / 9}" height="${height}" frameRate="25" mimeType="video/mp4" codecs="avc1.4d401f">
      <BaseURL>DASH_${height}.mp4</BaseURL>${await index(`avc-${height === 360 ? 360 : 720}.mp4`)}</Representation>`;
  return `<?xml version="1.0"?>
    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT${mediaSeconds}S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
      <Period>
        <AdaptationSet contentType="video">${await picture(360)}${await picture(720)}</AdaptationSet>
        <AdaptationSet contentType="audio">
          <Representation id="sound" bandwidth="128000" audioSamplingRate="48000" mimeType="audio/mp4" codecs="mp4a.40.2">
            <BaseURL>DASH_AUDIO_128.mp4</BaseURL>${await index('aac-original.m4a')}</Representation>
        </AdaptationSet>
      </Period>
    </MPD>`;
}

/** Byte range of the file's fragment index (`sidx`). */
async function index(name: MediumName): Promise<string> {
  const bytes = await readFile(await medium(name));
  const start = bytes.indexOf('sidx') - 4;
  const end = start + bytes.readUInt32BE(start) - 1;
  return `<SegmentBase indexRange="${start}-${end}"><Initialization range="0-${start - 1}"/></SegmentBase>`;
}
