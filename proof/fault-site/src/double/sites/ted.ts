import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds } from '../media.js';
import { masterPlaylist, sendHls } from './hls-files.js';

/** TED: a page with its data as JSON, and HLS with groups of dubbed audio and of subtitles. */
export class Ted implements Site {
  readonly hosts = ['www.ted.com', 'hls.ted.com'];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname } = exchange.url;
    if (pathname === '/talks/a_talk')
      return exchange.html(
        `<script id="__NEXT_DATA__" type="application/json">${JSON.stringify(page)}</script>`,
      );
    if (hostname !== 'hls.ted.com') return exchange.refuse(404);
    if (pathname === '/master.m3u8') return exchange.send(hls, master());
    const subtitles = /^\/subtitles\/(en|de)\/(index\.m3u8|[01]\.vtt)$/.exec(pathname);
    if (subtitles === null) return sendHls(exchange);
    const [, language = '', file = ''] = subtitles;
    if (file === 'index.m3u8') return exchange.send(hls, subtitlePlaylist);
    await exchange.send('text/vtt', segment(language, file === '0.vtt' ? 0 : 1));
  }
}

const hls = 'application/vnd.apple.mpegurl';

const page = {
  props: {
    pageProps: {
      videoData: {
        id: '1',
        title: 'A talk',
        duration: mediaSeconds,
        videoPlayerData: {
          thumb: 'https://hls.ted.com/cover.jpg',
          resources: { hls: { stream: 'https://hls.ted.com/master.m3u8' } },
        },
      },
    },
  },
};

function master(): string {
  const audio = (language: string, name: string, folder: string, more = '') =>
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",LANGUAGE="${language}",NAME="${name}",AUTOSELECT=YES,URI="/${folder}/index.m3u8"${more}`;
  const subtitles = (language: string, name: string) =>
    `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",LANGUAGE="${language}",NAME="${name}",DEFAULT=NO,URI="/subtitles/${language}/index.m3u8"`;
  return masterPlaylist('', [360, 720, 1080])
    .replace(
      /^#EXT-X-MEDIA.*$/m,
      [
        audio('en', 'English', 'hls-aac-original', ',DEFAULT=YES'),
        audio('pt-BR', 'Português brasileiro', 'hls-aac-dub', ',DEFAULT=NO'),
        audio(
          'en',
          'English with descriptions',
          'hls-aac-described',
          ',DEFAULT=NO,CHARACTERISTICS="public.accessibility.describes-video"',
        ),
        subtitles('en', 'English'),
        subtitles('de', 'Deutsch'),
      ].join('\n'),
    )
    .replaceAll('AUDIO="sound"', 'AUDIO="sound",SUBTITLES="text"');
}

/** Two segments of two seconds. */
const subtitlePlaylist = `#EXTM3U
#EXT-X-TARGETDURATION:2
#EXT-X-PLAYLIST-TYPE:VOD
#EXTINF:2.0,
0.vtt
#EXTINF:2.0,
1.vtt
#EXT-X-ENDLIST
`;

/** Each segment repeats the line that is on screen where it begins, as RFC 8216 asks for. */
function segment(language: string, number: 0 | 1): string {
  const words =
    language === 'de' ? ['Guten Tag', 'in beiden Teilen', 'Ende'] : ['Hello', 'in both parts', 'End'];
  const cues = [
    `00:00:00.500 --> 00:00:01.500\n<v Speaker>${words[0] ?? ''}</v>`,
    `00:00:01.500 --> 00:00:02.500\n${words[1] ?? ''}`,
    `00:00:03.000 --> 00:00:03.800\n<i>${words[2] ?? ''}</i>`,
  ];
  const shown = number === 0 ? cues.slice(0, 2) : cues.slice(1);
  return `WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n${shown.join('\n\n')}\n`;
}
