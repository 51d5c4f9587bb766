/** Operators' settings: each check starts its own project with a settings file like `.env`. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFreePort } from '@media-services/stack';
import { z } from 'zod';
import { containersWith } from '../docker.js';
import { shell, type Box } from '../place/box.js';
import type { Report } from '../report.js';
import { NotYet, until } from '../wait.js';
import { composeFor, type Compose } from './project.js';

const project = 'media-services-verify-settings';

const modelHealthSchema = z.object({
  services: z.object({
    'video-dl': z.object({ status: z.string() }),
    'bg-removal': z.object({
      status: z.string(),
      checks: z.object({ engine: z.object({ message: z.string() }) }).optional(),
    }),
  }),
});
const healthSchema = z.object({ status: z.string(), services: z.record(z.string(), z.unknown()) });

export async function checkSettings(report: Report): Promise<void> {
  await report.check('a wrong setting stops `up -d`, and the log names it', wrongSetting);
  await report.check('HOST may be an IPv6 address', () => publishedOn('::1'));
  await report.check('SERVICES=video-dl runs one service alone, and health misses nothing', oneServiceAlone);
  await report.check('without its model bg-removal says what is missing, and video-dl works', withoutModel);
}

function wrongSetting(): Promise<string> {
  return withSettings('STREAMS_MAX=many\nSERVICES=video-dl\n', async (compose) => {
    await assert.rejects(compose('up', '-d', '--no-build', 'gateway', 'video-dl'), /check-video-dl/);
    const log = await compose('logs', '--no-log-prefix', 'check-video-dl');
    const message = log.split('\n').find((line) => line.includes('STREAMS_MAX must be'));
    assert.ok(message !== undefined, log);
    assert.deepEqual(await boxesOf('video-dl'), [], 'video-dl was started');
    return message.trim();
  });
}

async function publishedOn(address: string): Promise<string> {
  const config = await composeFor({ overrides: [], env: { HOST: address } }, project)('config');
  assert.ok(config.includes(`host_ip: ${address}\n`), config);
  return address;
}

function oneServiceAlone(): Promise<string> {
  // Compose doesn't replace $ in single quotes.
  const proxy = 'http://user:pa$ss$$word@127.0.0.1:9';
  const settings = `SERVICES=video-dl\nOUTBOUND_PROXY='${proxy}'\nVIDEO_MAX_SECOND=100\n`;
  return withSettings(settings, async (compose, port) => {
    await compose('up', '-d', '--no-build', 'gateway', 'video-dl');
    const health = await until('health of one service', 120, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
      if (response?.status !== 200) return new NotYet(`status ${response?.status}`);
      return healthSchema.parse(await response.json());
    });
    assert.deepEqual(Object.keys(health.services), ['video-dl']);
    const image = await fetch(`http://127.0.0.1:${port}/api/remove-background`, { method: 'POST' });
    assert.equal(image.status, 404);
    const [videoDl] = await boxesOf('video-dl');
    assert.ok(videoDl !== undefined);
    const { output } = await shell(videoDl, 'printenv OUTBOUND_PROXY');
    assert.equal(output.trim(), proxy);
    const log = await compose('logs', '--no-log-prefix', 'video-dl');
    assert.match(log, /VIDEO_MAX_SECOND is not a setting.*VIDEO_MAX_SECONDS/);
    return `health ${health.status} with video-dl alone; OUTBOUND_PROXY keeps its $; a mistyped name is reported`;
  });
}

async function withoutModel(): Promise<string> {
  const nowhere = 'http://127.0.0.1:9';
  const env = { npm_config_registry: nowhere, HF_ENDPOINT: nowhere };
  return withSettings(
    '',
    async (compose, port) => {
      await compose('up', '-d', '--no-build');
      const services = await until('health without the model', 120, async () => {
        const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
        if (response === undefined) return new NotYet('no response');
        const { services } = modelHealthSchema.parse(await response.json());
        const isUp = services['video-dl'].status === 'ok' && services['bg-removal'].status === 'error';
        return isUp ? services : new NotYet(JSON.stringify(services));
      });
      const reason = services['bg-removal'].checks?.engine.message ?? '';
      assert.match(reason, /model/);
      return reason;
    },
    env,
  );
}

function boxesOf(service: string): Promise<Box[]> {
  return containersWith({
    'com.docker.compose.project': project,
    'com.docker.compose.service': service,
  });
}

async function withSettings(
  settings: string,
  check: (compose: Compose, port: number) => Promise<string>,
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-settings-'));
  const file = join(folder, 'settings.env');
  const port = await onFreePort((free) => Promise.resolve(free));
  const env = { ...variables, VERIFY_ENV_FILE: file, PORT: String(port), HOST: '127.0.0.1' };
  const compose = composeFor({ overrides: ['compose.env-file.yml'], env }, project);
  try {
    await writeFile(file, settings);
    return await check(compose, port);
  } finally {
    await compose('down', '--volumes', '--remove-orphans', '--timeout', '5');
    await rm(folder, { recursive: true, force: true });
  }
}
