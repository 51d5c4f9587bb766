import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { media, type Site } from '@media-services/fault-site';
import sharp from 'sharp';
import type { SoakContext } from './context.js';
import { exchange, imageUpload, newClient, type Upload } from './exchange.js';
import { imagePath } from './image-load.js';

/** Input made to slow the services down, fill their memory or crash them. */
export interface HostileInput {
  readonly kind: string;
  /** Path and query at the gateway; the number makes each page new. */
  readonly path: (number: number) => string;
  readonly upload?: Upload;
}

/** A hostile input may keep its own client waiting; the client leaves after this. */
const maxHostileMs = 20_000;

let asked = 0;

/** Sends one; any response but an internal error is right. */
export async function sendHostile(
  { gatewayUrl, ledger, signal }: SoakContext,
  { kind, path, upload }: HostileInput,
): Promise<void> {
  asked += 1;
  const { status, isWhole, body } = await exchange({
    url: gatewayUrl + path(asked),
    client: newClient(),
    upload,
    signal: AbortSignal.any([signal, AbortSignal.timeout(maxHostileMs)]),
  });
  ledger.count(kind, isWhole ? String(status) : status === 0 ? 'left' : 'reset or left');
  if (status === 500) ledger.problem(`${kind}: ${body.toString('utf8').slice(0, 300)}`);
}

const uint32 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, 4 * index));
  return bytes;
};
const box = (type: string, ...parts: readonly Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([uint32(8 + content.length), Buffer.from(type, 'latin1'), content]);
};
const repeated = (unit: Buffer, bytes: number) =>
  Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);
const emptyBox = box('free');

const types = { html: 'text/html', m3u8: 'application/vnd.apple.mpegurl', mpd: 'application/dash+xml' };

function reply(response: ServerResponse, type: string, body: string | Buffer): void {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Sends bytes in HTTP chunks of one byte, as fast as the client reads. */
function sendSingly({ socket }: ServerResponse, type: string, bytes: Buffer): void {
  if (socket === null) return;
  socket.on('error', () => undefined);
  socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  let at = 0;
  const next = (): void => {
    while (at < bytes.length) {
      const part = bytes.subarray(at, (at += 8192));
      const wire = Buffer.alloc(part.length * 6, '1\r\n \r\n');
      part.forEach((byte, index) => (wire[index * 6 + 3] = byte));
      if (!socket.write(wire)) return void socket.once('drain', next);
    }
    socket.write('0\r\n\r\n');
  };
  next();
}

/** Sends a byte a second until the reader leaves. */
function drip(response: ServerResponse, type: string): void {
  response.writeHead(200, { 'content-type': type });
  const timer = setInterval(() => response.write(' '), 1000);
  response.on('close', () => clearInterval(timer));
}

/** Puts the hostile pages, manifests and media on the site. */
export async function hostileSources(site: Site): Promise<readonly HostileInput[]> {
  const inputs: HostileInput[] = [];
  const at = (name: string) => `/hostile/${name}`;
  const add = (kind: string, endpoint: 'info' | 'stream' | 'stream/video', page: string) =>
    inputs.push({
      kind: `hostile: ${kind}`,
      path: (number) => `/api/${endpoint}?url=${encodeURIComponent(`${site.url}${page}?n=${number}`)}`,
    });
  const serve = (name: string, type: string, body: string | Buffer) =>
    site.on(at(name), (_request, response) => reply(response, type, body));
  /** Harmless when yt-dlp reads it, hostile when the relay does. */
  const turning = (
    name: string,
    type: string,
    harmless: string,
    then: (response: ServerResponse) => void,
  ) => {
    const seen = new Map<string, number>();
    site.on(at(name), (_request, response, { search }) => {
      const times = (seen.get(search) ?? 0) + 1;
      seen.set(search, times);
      if (times <= (type === types.mpd ? 1 : 2)) reply(response, type, harmless);
      else then(response);
    });
  };
  const playlist = (lines: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:9\n${lines}#EXT-X-ENDLIST\n`;
  const oneSegment = (name: string, map = '') => playlist(`${map}#EXTINF:9,\n${at(name)}\n`);

  const attributes = Array.from({ length: 60_000 }, (_, index) => ` a${index.toString(36)}=""`).join('');
  const manifest = (set: string, representations: string) =>
    `<MPD type="static" mediaPresentationDuration="PT4S"><Period><AdaptationSet contentType="video"${set}>` +
    `<SegmentTemplate timescale="1" duration="4" media="c-$Number$.m4s"/>${representations}</AdaptationSet></Period></MPD>`;
  const plain = '<Representation id="0" mimeType="video/mp4" codecs="avc1.64000c" bandwidth="1000"/>';
  turning('attributes.mpd', types.mpd, manifest('', plain), (response) =>
    reply(response, types.mpd, manifest(attributes, '<Representation/>'.repeat(100))),
  );
  add('a manifest of 60 000 attributes', 'info', at('attributes.mpd'));

  const harmless = oneSegment('none.ts');
  turning('long-url.m3u8', types.m3u8, harmless, (response) =>
    response.writeHead(302, { location: `/${'a'.repeat(60_000)}.m3u8` }).end(),
  );
  add('a playlist at a URL of 60 kB', 'info', at('long-url.m3u8'));
  const key = '#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF:1.0,\na\n';
  turning('keys.m3u8', types.m3u8, harmless, (response) =>
    reply(response, types.m3u8, playlist(key.repeat(10_000))),
  );
  add('a playlist of 10 000 keys', 'info', at('keys.m3u8'));

  const front = await readFile(await media('front.mp4'));
  const start = front.indexOf('moov') - 4;
  const end = start + front.readUInt32BE(start);
  const track = box('trak', box('mdia', box('minf', box('stbl', repeated(emptyBox, 7_300_000)))));
  const bombIndex = [front.subarray(0, start), box('moov', front.subarray(start + 8, end), track)];
  serve('index.mp4', 'video/mp4', Buffer.concat([...bombIndex, front.subarray(end)]));
  add('an index of a million boxes', 'stream', at('index.mp4'));

  const fragment = box('moof', repeated(box('traf', emptyBox), 7.9 * 1024 ** 2));
  serve('fragment.m4s', 'video/mp4', Buffer.concat([fragment, box('mdat', Buffer.alloc(16))]));
  serve('init.mp4', 'video/mp4', await readFile(`${await media('hls-fmp4')}/init.mp4`));
  const map = `#EXT-X-MAP:URI="${at('init.mp4')}"\n`;
  serve('fragment.m3u8', types.m3u8, oneSegment('fragment.m4s', map));
  add('a fragment of 500 000 boxes', 'stream', at('fragment.m3u8'));

  const packets = Array.from({ length: 5500 }, (_, index) => {
    const packet = Buffer.alloc(188, 0xff);
    packet[0] = 0x47;
    packet.writeUInt16BE(0x4000 | (32 + index), 1);
    packet[3] = 0x10;
    return packet;
  });
  serve('streams.ts', 'video/mp2t', Buffer.concat(packets));
  serve('streams.m3u8', types.m3u8, oneSegment('streams.ts'));
  add('a transport stream of 5500 streams', 'stream', at('streams.m3u8'));

  serve('frames.aac', 'audio/aac', repeated(Buffer.from('fff1508000fffc', 'hex'), 2 * 1024 ** 2));
  serve('frames.m3u8', types.m3u8, oneSegment('frames.aac'));
  add('audio frames of 7 bytes', 'stream', at('frames.m3u8'));

  const padding = repeated(Buffer.concat([Buffer.from('471fff10', 'hex'), Buffer.alloc(184)]), 1024 ** 2);
  site.on(at('singly.ts'), (_request, response) => sendSingly(response, 'video/mp2t', padding));
  serve('singly.m3u8', types.m3u8, oneSegment('singly.ts'));
  add('a segment in HTTP chunks of one byte', 'stream', at('singly.m3u8'));
  const longPage = Buffer.from(`<html>${'x '.repeat(512 * 1024)}</html>`);
  site.on(at('singly'), (_request, response) => sendSingly(response, types.html, longPage));
  add('a page in HTTP chunks of one byte', 'info', at('singly'));

  const bomb = manySamples(await readFile(await media('sound.m4a')), 60_000_000);
  serve('samples.m4a', 'audio/mp4', bomb);
  add('1.8 kB of MP4 with 60 million samples', 'stream', at('samples.m4a'));

  const tag = Array(200).fill('a.'.repeat(127)).join('\b');
  const text = Buffer.from(`\0t\0${tag}`, 'latin1');
  const frame = Buffer.concat([Buffer.from('TXXX'), uint32(text.length), Buffer.alloc(2), text]);
  const size = [21, 14, 7, 0].map((shift) => (frame.length >> shift) & 127);
  const id3 = Buffer.concat([Buffer.from('ID3\x03\0\0'), Buffer.from(size), frame]);
  serve('lines.aac', 'audio/aac', Buffer.concat([id3, await readFile(await media('sound.aac'))]));
  add('a tag that ffmpeg prints as a line of 50 kB', 'stream', at('lines.aac'));

  site.on(at('drips'), (_request, response) => drip(response, types.html));
  add('a page that drips', 'info', at('drips'));
  site.on(at('drips.ts'), (_request, response) => drip(response, 'video/mp2t'));
  serve('drips.m3u8', types.m3u8, oneSegment('drips.ts'));
  add('a segment that drips', 'stream/video', at('drips.m3u8'));
  serve('private', types.html, '<title>x</title><video src="http://127.0.0.1:1/private.m3u8"></video>');
  add('a video in a private network', 'info', at('private'));
  return inputs;
}

/** The index of an MP4 with one track, changed to claim this many samples of one byte. */
function manySamples(file: Buffer, samples: number): Buffer {
  const tables: Readonly<Record<string, Buffer>> = {
    stsz: uint32(0, 1, samples),
    stts: uint32(0, 1, samples, 2),
    stsc: uint32(0, 1, 1, samples, 1),
    stco: uint32(0, 1, 48),
  };
  const edit = (bytes: Buffer): Buffer => {
    const parts: Buffer[] = [];
    for (let at = 0; at + 8 <= bytes.length; at += bytes.readUInt32BE(at)) {
      const type = bytes.toString('latin1', at + 4, at + 8);
      const whole = bytes.subarray(at, at + bytes.readUInt32BE(at));
      if (tables[type] !== undefined) parts.push(box(type, tables[type]));
      else if (/^(?:moov|trak|mdia|minf|stbl)$/.test(type)) parts.push(box(type, edit(whole.subarray(8))));
      else if (type !== 'mdat') parts.push(whole);
    }
    return Buffer.concat(parts);
  };
  return Buffer.concat([edit(file), box('mdat', Buffer.alloc(1000))]);
}

/** Images that are expensive to decode for their size. */
export async function hostileImages(): Promise<readonly HostileInput[]> {
  const side = 7000;
  const grey = sharp({
    create: { width: side, height: side, channels: 4, background: { r: 200, g: 100, b: 50, alpha: 0.5 } },
  });
  const png = await grey.png({ progressive: true }).toBuffer();
  const cut = { bytes: png.subarray(0, png.length - 200), name: 'cut.png' };
  const tall = Buffer.from(png);
  tall.writeUInt32BE(1, 16);
  tall.writeUInt32BE(side * side, 20);
  const files = {
    'a cut PNG of 49 megapixels': cut,
    'a PNG of one column': { bytes: tall, name: 'tall.png' },
  };
  return Promise.all(
    Object.entries(files).map(async ([kind, file]) => ({
      kind: `hostile: ${kind}`,
      path: () => imagePath,
      upload: await imageUpload(file),
    })),
  );
}
