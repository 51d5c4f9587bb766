import { readFile } from 'node:fs/promises';
import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds, medium, type MediumName } from '../media.js';

/** A DASH manifest with sets of dubbed audio, of an audio description, and of subtitles in TTML and WebVTT. */
export class Broadcaster implements Site {
  readonly hosts = ['media.broadcaster.example'];

  async answer(exchange: Exchange): Promise<void> {
    const { pathname } = exchange.url;
    if (pathname === '/film.mpd') return exchange.send('application/dash+xml', await manifest());
    if (pathname === '/de.ttml') return exchange.send('application/ttml+xml', ttml);
    if (pathname === '/en.vtt') return exchange.send('text/vtt', vtt);
    const name = files[pathname.slice(1)];
    if (name === undefined) return exchange.refuse(404);
    await exchange.file(await medium(name), 'video/mp4');
  }
}

const files: Readonly<Record<string, MediumName>> = {
  'video.mp4': 'avc-720.mp4',
  'en.mp4': 'aac-original.m4a',
  'de.mp4': 'aac-dub.m4a',
  'described.mp4': 'aac-described.m4a',
};

async function manifest(): Promise<string> {
  const audio = async (file: string, language: string, role: string) =>
    `<AdaptationSet contentType="audio" lang="${language}"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="${role}"/>
      <Representation id="${file}" bandwidth="128000" audioSamplingRate="48000" mimeType="audio/mp4" codecs="mp4a.40.2">
      <BaseURL>${file}.mp4</BaseURL>${await index(`${file}.mp4`)}</Representation></AdaptationSet>`;
  const text = (file: string, type: string, language: string) =>
    `<AdaptationSet contentType="text" mimeType="${type}" lang="${language}">
      <Representation id="text-${language}" bandwidth="256"><BaseURL>${file}</BaseURL></Representation></AdaptationSet>`;
  return `<?xml version="1.0"?>
    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT${mediaSeconds}S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
      <Period>
        <AdaptationSet contentType="video"><Representation id="720" bandwidth="1500000" width="1280" height="720" frameRate="25" mimeType="video/mp4" codecs="avc1.4d401f">
          <BaseURL>video.mp4</BaseURL>${await index('video.mp4')}</Representation></AdaptationSet>
        ${await audio('en', 'en', 'main')}${await audio('de', 'de-AT', 'dub')}${await audio('described', 'en', 'description')}
        ${text('de.ttml', 'application/ttml+xml', 'de')}${text('en.vtt', 'text/vtt', 'en')}
      </Period>
    </MPD>`;
}

/** Byte range of the file's fragment index (`sidx`). */
async function index(file: string): Promise<string> {
  const bytes = await readFile(await medium(files[file] ?? 'avc-720.mp4'));
  const start = bytes.indexOf('sidx') - 4;
  const end = start + bytes.readUInt32BE(start) - 1;
  return `<SegmentBase indexRange="${start}-${end}"><Initialization range="0-${start - 1}"/></SegmentBase>`;
}

const ttml = `<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling" xml:lang="de">
  <head><styling><style xml:id="s" tts:color="white"/></styling></head>
  <body><div>
    <p begin="00:00:00.500" end="00:00:01.500" style="s"><span tts:color="yellow">Guten Tag</span><br/>zusammen</p>
    <p begin="1.5s" dur="1s">Käse &amp; Brot</p>
    <p begin="00:00:03:00" end="00:00:03:20">Ende</p>
  </div></body>
</tt>
`;

const vtt = `WEBVTT

NOTE A comment

1
00:00.500 --> 00:01.500 align:start position:0%
<c.yellow>Hello</c> <script>alert(1)</script>
everybody

00:01.500 --> 00:02.500
Cheese &amp; bread
`;
