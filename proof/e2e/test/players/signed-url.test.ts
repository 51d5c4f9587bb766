import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaServicesClient } from '@media-services/client';
import { film } from '@media-services/fault-site';
import { startNginx, type RunningGateway } from '@media-services/stack';
import { execa } from 'execa';
import { isNight } from '../../../vitest/at-night.js';
import { gatewaySecret } from '../support/gateway-secret.js';
import { root, stack } from '../support/stack.js';
import { chromium, firefox } from './browsers.js';
import { ffmpeg, mpv, type Program } from './programs.js';

const apiKey = 'key-of-a-player';
const page = `${stack.films}/watch?media=film-720.mp4`;

let folder: string;
let gateway: RunningGateway;
let client: MediaServicesClient;

/** A gateway that requires keys, before the services of the stack. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-signed-'));
  const keys = join(folder, 'keys');
  writeFileSync(keys, `player ${createHash('sha256').update(apiKey).digest('hex')}\n`);
  gateway = await startNginx({
    gatewayDir: join(root, 'nginx'),
    runDir: join(folder, 'run'),
    settings: { API_KEYS_FILE: keys, GATEWAY_SECRET: gatewaySecret },
    variables: { VIDEO_DL_UPSTREAM: stack.videoDl, BG_REMOVAL_UPSTREAM: stack.bgRemoval },
  });
  client = new MediaServicesClient({ baseUrl: `http://127.0.0.1:${gateway.port}`, key: apiKey });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Programs that take only a URL. The browsers show the film on a page of another origin. */
const players: Readonly<Record<string, Program>> = {
  ffmpeg,
  Chromium: chromium,
  ...(isNight && { mpv, Firefox: firefox }),
};

it.each(Object.entries(players))('%s plays a stream by its signed URL', async (_name, player) => {
  const { seconds } = await player(await client.signedUrl(client.streamUrl(page, 'mp4-720')));
  expect(Math.abs(seconds - film.durationSeconds)).toBeLessThan(0.15);
});

it('curl reads a stream with the key as the password', async () => {
  const url = client.streamUrl(page, 'mp3');
  const { stdout } = await execa('curl', ['-sSf', '-u', `any:${apiKey}`, url], { encoding: 'buffer' });
  expect(Buffer.from(stdout).subarray(0, 3).toString()).toBe('ID3');
});

it('a changed and an expired URL are rejected', async () => {
  const signed = await client.signedUrl(client.streamUrl(page, 'mp4-720'));
  const statusOf = async (url: string) => (await fetch(url, { method: 'HEAD' })).status;

  expect(await statusOf(signed)).toBe(200);
  expect(await statusOf(signed.replace('mp4-720', 'mp4-1080'))).toBe(401);
  const expired = await client.signedUrl(client.streamUrl(page, 'mp4-720'), { lifetimeSeconds: -1 });
  expect(await statusOf(expired)).toBe(401);
});
