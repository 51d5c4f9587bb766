/** The files of deploy/compose, added as docs/deployment.md says. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { onFreePort } from '@media-services/stack';
import { z } from 'zod';
import { containersWith, docker, inspect } from '../docker.js';
import { distributePicture, download, request as ask, shell, type Box } from '../place/box.js';
import { healthUntil } from '../place/health.js';
import { assertWholeFilm, filmPage, problemCode } from '../place/main-job.js';
import type { Report } from '../report.js';
import { NotYet, until } from '../wait.js';
import { composeFor, containerOf, project, source, type ComposeSetting } from './project.js';

/** From the folder of compose.verify.yml. */
const additions = '../../../deploy/compose/';
const imageSources = `${project}_image-sources`;
/** The address that tls.yml gives Caddy. */
const caddyAddress = '10.86.172.2';

const clientSchema = z.object({ client: z.string() });

export async function checkAdditions(report: Report, setting: ComposeSetting): Promise<void> {
  await report.check('image-urls.yml lets bg-removal fetch an image, but not from a private address', () =>
    imageByUrl(setting),
  );
  await report.check("vpn.yml moves video-dl into another container's network", () =>
    throughVpn(setting, 'vpn'),
  );
  await report.check("vpn-proxy.yml sends video-dl's connections through a proxy", () =>
    throughVpn(setting, 'vpn-proxy'),
  );
  await report.check('tls.yml serves HTTPS, and only Caddy may name the client', () => https(setting));
}

async function imageByUrl(setting: ComposeSetting): Promise<string> {
  const client = await containerOf('client', 1);
  const send = (url: string) =>
    ask(client, { path: '/api/remove-background', form: { image_url: url }, id: 'image-url' });
  const site = `http://${source}/picture.jpg`;
  assert.equal((await send(site)).status, 400, 'image_url is accepted without image-urls.yml');

  const options = ['up', '-d', '--no-build', '--no-deps', '--scale', 'bg-removal=1', 'bg-removal'];
  const overrides = [...setting.overrides, `${additions}image-urls.yml`];
  try {
    await composeFor({ ...setting, overrides })(...options);
    const box = await containerOf('source');
    await docker('network', 'connect', '--alias', 'source', imageSources, box.name);
    await healthUntil(client, '/bg-removal/api/health', 200, 'ok');
    await distributePicture(await containerOf('bg-removal'), [box]);
    const cutOut = await send(site);
    assert.deepEqual([cutOut.status, cutOut.type], [200, 'image/png'], JSON.stringify(cutOut));
    for (const url of ['http://gateway:8080/favicon.svg', 'http://169.254.169.254/latest/']) {
      const { status, json } = await send(url);
      assert.deepEqual([status, problemCode(json)], [403, 'forbidden_address'], url);
    }
    return `${cutOut.bytes} bytes`;
  } finally {
    await composeFor(setting)(...options);
    await docker('network', 'disconnect', '--force', imageSources, (await containerOf('source')).name);
    await docker('network', 'rm', imageSources);
    await healthUntil(client, '/bg-removal/api/health', 200, 'ok');
  }
}

/** Streams a film with video-dl behind what stands in for gluetun. */
async function throughVpn(setting: ComposeSetting, file: 'vpn' | 'vpn-proxy'): Promise<string> {
  const client = await containerOf('client', 1);
  const overrides = [...setting.overrides, `${additions}${file}.yml`, `compose.${file}.yml`];
  const compose = composeFor({ ...setting, overrides });
  const options = [
    'up',
    '-d',
    '--no-build',
    '--remove-orphans',
    '--scale',
    'video-dl=1',
    'video-dl',
    'gateway',
  ];
  try {
    await compose(...options);
    await healthUntil(client, '/video-dl/api/health', 200, 'ok');
    const to = '/tmp/vpn.mp4';
    const path = `/api/stream/video?url=${filmPage(source)}`;
    const answer = await download(client, { path, to, id: `${file}-stream` });
    assert.ok(answer.complete && answer.status === 200, JSON.stringify(answer));
    await assertWholeFilm(client, to);
    if (file === 'vpn') {
      const { NetworkSettings } = await inspect(await containerOf('video-dl'));
      assert.deepEqual(Object.keys(NetworkSettings.Networks), [], 'video-dl has a network of its own');
    } else {
      const targets = await compose('logs', '--no-log-prefix', 'vpn');
      // By its IP: video-dl resolves names itself.
      assert.match(targets, /:8000$/m);
    }
    return `${answer.bytes} bytes`;
  } finally {
    await compose('rm', '--stop', '--force', 'vpn', 'video-dl');
    await composeFor(setting)('up', '-d', '--no-build', '--remove-orphans', 'video-dl', 'gateway');
    await healthUntil(client, '/api/health', 200, 'ok');
  }
}

async function https({ env }: ComposeSetting): Promise<string> {
  const name = `${project}-tls`;
  const port = await onFreePort((free) => Promise.resolve(free));
  const compose = composeFor(
    {
      overrides: [`${additions}tls.yml`, 'compose.tls.yml'],
      // For this name Caddy signs a certificate itself.
      env: { ...env, DOMAIN: 'localhost', VERIFY_TLS_PORT: String(port) },
    },
    name,
  );
  try {
    await compose('up', '-d', '--no-build', 'gateway', 'caddy');
    const of = async (service: string): Promise<Box> => {
      const labels = { 'com.docker.compose.project': name, 'com.docker.compose.service': service };
      const [box] = await containersWith(labels);
      if (box === undefined) throw new Error(`${service} does not run`);
      return box;
    };
    const caddy = await of('caddy');
    const gateway = await of('gateway');
    const authority = await until('the authority of Caddy', 30, async () => {
      const { code, output } = await shell(caddy, 'cat /data/caddy/pki/authorities/local/root.crt');
      return code === 0 ? output : new NotYet(output);
    });
    const status = await until('the page over HTTPS', 60, async () => {
      const answer = await statusOf(port, authority).catch((error: unknown) => String(error));
      return answer === 200 ? answer : new NotYet(String(answer));
    });
    assert.equal((await docker('port', gateway.name)).trim(), '', 'the gateway publishes a port');
    const lines = (await docker('logs', gateway.name))
      .split('\n')
      .filter((line) => line.includes('tls-proof'));
    const clients = lines.map((line) => clientSchema.parse(JSON.parse(line)).client);
    assert.ok(clients.length > 0, 'the gateway has no line of the request');
    for (const client of clients) assert.ok(![caddyAddress, forged].includes(client), client);
    return `${status}; the client is ${clients.at(-1)}`;
  } finally {
    await compose('down', '--volumes', '--remove-orphans', '--timeout', '5');
  }
}

const forged = '203.0.113.7';

/** Status of the page for a client that trusts Caddy's authority and forges its IP. */
function statusOf(port: number, ca: string): Promise<number | undefined> {
  const headers = { 'X-Forwarded-For': forged, 'X-Request-Id': 'tls-proof' };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', servername: 'localhost', port, ca, headers, path: '/' }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .setHeader('Host', 'localhost')
      .end();
  });
}
