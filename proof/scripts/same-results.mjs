// node proof/scripts/same-results.mjs CHECKOUT: sends the same requests to the services of another
// built checkout and of this one, and compares the SHA-256 of what they return. Prints a Markdown
// table; exits 1 if a result differs. Both checkouts must be built and set up (`npm start` does both).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { media, startSite } from '../fault-site/dist/index.js';

const here = resolve(import.meta.dirname, '../..');
const audio = ['sound.m4a', 'front.mp4', 'opus.webm', 'sound.ogg', 'sound.flac', 'vbr.mp3', 'long.mp3'];
const audioInParts = ['hls-ts/index.m3u8', 'dash-timeline/manifest.mpd'];
const video = [
  'front.mp4',
  'front-qt.mp4',
  'end-qt.mp4',
  'h264.mkv',
  'h264-opus.mp4',
  'hevc.mp4',
  'vp9.webm',
];
const videoInParts = [
  'hls-ts/index.m3u8',
  'hls-fmp4/index.m3u8',
  'hls-aes/index.m3u8',
  'dash-list/manifest.mpd',
];
const images = [{}, { threshold: '40', feather: '0' }, { foreground_strength: '1.5' }];

/**
 * Starts one service of a checkout on a free port and waits until it is healthy.
 * @param {string} checkout
 * @param {string} name
 * @param {Record<string, string>} env
 */
async function startService(checkout, name, env) {
  const child = spawn(process.execPath, [join(checkout, 'apps', name, 'dist/main.js')], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info', ...env },
  });
  const url = await new Promise((found, failed) => {
    child.once('exit', (code) => failed(new Error(`${name} of ${checkout} exited with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { msg, url: address } = JSON.parse(line);
      if (msg === 'listening') found(address);
    });
  });
  while (!(await fetch(`${url}/api/health`)).ok) await new Promise((later) => setTimeout(later, 250));
  return { url, stop: () => child.kill() };
}

/** @param {Promise<Response>} answered */
async function summarize(answered) {
  const response = await answered;
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { status: response.status, bytes: bytes.length, sha256 };
}

/** @param {string} service @param {string} siteUrl */
function videoRequests(service, siteUrl) {
  /** @param {string} path @param {string} query */
  const request = (path, query) => (/** @type {string} */ name) => ({
    name: `\`${path}${query}\` of ${name}`,
    send: () => fetch(`${service}${path}?url=${encodeURIComponent(`${siteUrl}/media/${name}`)}${query}`),
  });
  return [
    ...[...audio, ...audioInParts].map(request('/api/stream', '')),
    ...[...video, ...videoInParts].map(request('/api/stream/video', '&fmt=mp4-720')),
  ];
}

/** @param {string} service @param {Buffer} photo */
function imageRequests(service, photo) {
  return images.map((fields) => ({
    name: `\`/api/remove-background\` ${new URLSearchParams(fields).toString()}`,
    send: () => {
      const body = new FormData();
      body.set('file', new Blob([Uint8Array.from(photo)], { type: 'image/jpeg' }), 'photo.jpg');
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return fetch(`${service}/api/remove-background`, { method: 'POST', body });
    },
  }));
}

/** @param {string} checkout @param {Awaited<ReturnType<typeof startSite>>} site */
async function resultsOf(checkout, site) {
  const results = new Map();
  const photo = await readFile(join(here, 'nginx/html/samples/photo.jpg'));
  const services = /** @type {const} */ ([
    [
      'video-dl',
      { ALLOWED_PRIVATE_SOURCES: site.host },
      (/** @type {string} */ url) => videoRequests(url, site.url),
    ],
    ['bg-removal', {}, (/** @type {string} */ url) => imageRequests(url, photo)],
  ]);
  for (const [name, env, requestsTo] of services) {
    const service = await startService(checkout, name, env);
    try {
      for (const request of requestsTo(service.url))
        results.set(request.name, await summarize(request.send()));
    } finally {
      service.stop();
    }
  }
  return results;
}

const [, , other] = process.argv;
if (other === undefined) throw new Error('usage: node proof/scripts/same-results.mjs CHECKOUT');
// Encoding a file may take longer than a stream waits for its first byte.
for (const name of [...audio, ...audioInParts, ...video, ...videoInParts])
  await media(name.split('/')[0] ?? name);
const site = await startSite();
try {
  const before = await resultsOf(resolve(other), site);
  const now = await resultsOf(here, site);
  console.log('| request | bytes before | bytes now | SHA-256 now | same |\n|---|---|---|---|---|');
  let different = 0;
  for (const [name, { status, bytes, sha256 }] of now) {
    const old = before.get(name);
    const isSame = status === 200 && old.sha256 === sha256;
    if (!isSame) different += 1;
    const note = isSame ? 'yes' : `no (${old.status}, now ${status})`;
    console.log(`| ${name} | ${old.bytes} | ${bytes} | \`${sha256.slice(0, 16)}…\` | ${note} |`);
  }
  console.log(`\n${now.size - different} of ${now.size} results are the same.`);
  process.exitCode = different === 0 ? 0 : 1;
} finally {
  await site[Symbol.asyncDispose]();
}
