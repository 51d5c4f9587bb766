/** The endpoints through the gateway, from a client with its own IP. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Report } from '../report.js';
import { download, picturePath, request, shell, type Box } from './box.js';

/** Host and port of the video's web site, as video-dl reaches it. */
export type SourceHost = string;

const filmSeconds = 30;

const healthSchema = z.object({
  status: z.string(),
  services: z.object({
    'video-dl': z.object({
      status: z.string(),
      checks: z.object({
        downloadEngine: z.object({ version: z.string(), javascriptRuntime: z.string() }),
        muxingEngine: z.object({ version: z.string() }),
      }),
    }),
    'bg-removal': z.object({
      status: z.string(),
      checks: z.object({ engine: z.object({ model: z.string() }) }),
    }),
  }),
});
const infoSchema = z.object({ title: z.string(), duration: z.number() });
const problemSchema = z.object({ code: z.string() });

/** Code of a problem document; fails for other documents. */
export function problemCode(json: unknown): string {
  return problemSchema.parse(json).code;
}

/**
 * URL of the video's page, encoded for a query.
 * @param bytesPerSecond of the video after its first megabyte; unlimited by default
 * @param number a different page for each, because the gateway sends all requests for one page to one replica
 */
export function filmPage(source: SourceHost, bytesPerSecond = 0, number = 0): string {
  return encodeURIComponent(`http://${source}/film?rate=${bytesPerSecond}&number=${number}`);
}

/** Length and codecs of a file in a client; decodes the whole file. */
async function probe(client: Box, file: string): Promise<{ codecs: string; seconds: number }> {
  const { code, output } = await shell(
    client,
    `ffprobe -v error -show_entries format=duration:stream=codec_name -of default=nk=1:nw=1 ${file} && ffmpeg -v error -xerror -nostdin -i ${file} -f null -`,
  );
  assert.equal(code, 0, `${file} is broken: ${output}`);
  const lines = output.trim().split('\n');
  return { codecs: lines.slice(0, -1).join('+'), seconds: Number(lines.at(-1)) };
}

/** Fails if a file does not contain the complete video. */
export async function assertWholeFilm(
  client: Box,
  file: string,
): Promise<{ codecs: string; seconds: number }> {
  const probed = await probe(client, file);
  assert.ok(Math.abs(probed.seconds - filmSeconds) < 0.2, `${file} has ${probed.seconds} s`);
  return probed;
}

/** @param forbidden URLs that video-dl must not read */
export async function checkMainJob(
  report: Report,
  place: { readonly client: Box; readonly source: SourceHost; readonly forbidden: readonly string[] },
): Promise<void> {
  const { client, source, forbidden } = place;
  const get = (path: string) => request(client, { path, id: 'main' });

  await report.check('/api/health merges both services', async () => {
    const { status, json } = await get('/api/health');
    assert.equal(status, 200, JSON.stringify(json));
    const health = healthSchema.parse(json);
    const { 'video-dl': video, 'bg-removal': images } = health.services;
    assert.deepEqual([health.status, video.status, images.status], ['ok', 'ok', 'ok']);
    const { downloadEngine, muxingEngine } = video.checks;
    return `yt-dlp ${downloadEngine.version} with ${downloadEngine.javascriptRuntime}, ffmpeg ${muxingEngine.version}, model ${images.checks.engine.model}`;
  });
  await report.check('the web page and the documentation are served', async () => {
    for (const path of ['/', '/docs/']) {
      const { status, type } = await get(path);
      assert.equal(status, 200, `${path} is ${status}`);
      assert.match(type ?? '', /text\/html/);
    }
  });
  await report.check('unknown paths are problems in the common format', async () => {
    const { status, type, json } = await get('/api/nothing');
    assert.deepEqual([status, type, problemCode(json)], [404, 'application/problem+json', 'not_found']);
  });
  await report.check('/api/info describes the page', async () => {
    const { status, json } = await get(`/api/info?url=${filmPage(source)}`);
    assert.equal(status, 200, JSON.stringify(json));
    const { title, duration } = infoSchema.parse(json);
    assert.equal(title, 'A film for the proof');
    assert.ok(Math.abs(duration - filmSeconds) < 0.2, `duration ${duration}`);
    return `“${title}”, ${duration} s`;
  });
  await report.check('/api/stream gives a whole MP3', () =>
    checkStream(client, `/api/stream?url=${filmPage(source)}`, '/tmp/film.mp3', 'mp3'),
  );
  await report.check('/api/stream/video gives a whole MP4', () =>
    checkStream(client, `/api/stream/video?url=${filmPage(source)}`, '/tmp/film.mp4', 'h264+aac'),
  );
  await report.check('a private address that is not allowed is refused', async () => {
    for (const url of forbidden) {
      const { status, json } = await get(`/api/info?url=${encodeURIComponent(url)}`);
      assert.deepEqual([status, problemCode(json)], [403, 'forbidden_address'], url);
    }
  });
  await report.check('/api/remove-background gives a transparent PNG', async () => {
    const answer = await request(client, {
      path: '/api/remove-background',
      picture: picturePath,
      id: 'main-image',
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.equal(answer.type, 'image/png');
    // Colour type 6 is red, green, blue and alpha.
    const header = Buffer.from(answer.start ?? '', 'hex');
    assert.deepEqual([header.readUInt32BE(16), header.readUInt32BE(20), header[25]], [800, 600, 6]);
    return `800×600 with alpha, ${answer.bytes} bytes, ${answer.ms} ms`;
  });
}

async function checkStream(client: Box, path: string, to: string, codecs: string): Promise<string> {
  const answer = await download(client, { path, to, id: 'main-stream' });
  assert.ok(answer.complete, JSON.stringify(answer));
  const file = await assertWholeFilm(client, to);
  assert.equal(file.codecs, codecs);
  return `${file.codecs}, ${file.seconds.toFixed(2)} s, ${(answer.bytes / 1e6).toFixed(1)} MB in ${answer.seconds.toFixed(1)} s`;
}
