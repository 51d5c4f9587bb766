/** Checks the logs and metrics of requests with different outcomes. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { docker } from '../docker.js';
import { download, shell } from '../place/box.js';
import { filmPage } from '../place/main-job.js';
import type { Report } from '../report.js';
import { NotYet, until } from '../wait.js';
import { containerOf, containersOf, source } from './project.js';

const lineSchema = z.object({ requestId: z.string(), status: z.number(), outcome: z.string() });

export async function checkObserving(report: Report): Promise<void> {
  await report.check(
    'gateway and service log one line per request, with the same id and its outcome',
    outcomes,
  );
  await report.check('successful health checks are not logged', async () => {
    const gateway = await containerOf('gateway');
    const probe = (path: string) =>
      shell(gateway, `curl -sS -A idle-probe -o /tmp/probe http://127.0.0.1:8080${path}`);
    await probe('/api/health');
    await probe('/api/nothing');
    const lines = (await docker('logs', gateway.name))
      .split('\n')
      .filter((line) => line.includes('idle-probe'));
    assert.deepEqual(
      lines.map((line) => /"path":"([^"]*)"/.exec(line)?.[1]),
      ['/api/nothing'],
    );
  });
  await report.check("the gateway's metrics count what clients got", async () => {
    const { output } = await shell(await containerOf('gateway'), 'curl -sS http://127.0.0.1:9100/metrics');
    // Of the two checks above: an earlier restart of the gateway began the counters anew.
    for (const [route, status] of [
      ['/api/stream', '200'],
      ['other', '404'],
    ]) {
      const series = new RegExp(
        `^media_gateway_requests_total\\{.*route="${route}".*status="${status}".*\\} [1-9]`,
        'm',
      );
      assert.match(output, series);
    }
  });
}

async function linesOf(names: readonly string[], id: string) {
  const logs = await Promise.all(names.map((name) => docker('logs', name)));
  return logs
    .flatMap((log) => log.split('\n'))
    .filter((line) => line.includes(`"${id}"`) && line.includes('"outcome"'))
    .map((line) => lineSchema.parse(JSON.parse(line)));
}

async function outcomes(): Promise<string> {
  const client = await containerOf('client', 3);
  const gateway = await containerOf('gateway');
  const replicas = await containersOf('video-dl');
  const path = `/api/stream?url=${filmPage(source)}`;
  const run = Date.now();
  const seen: string[] = [];
  const check = async (id: string, expected: string) => {
    const lines = await until(`the lines of ${id}`, 20, async () => {
      const found = await linesOf([gateway.name, ...replicas.map(({ name }) => name)], id);
      return found.length >= 2 ? found : new NotYet(`${found.length} lines`);
    });
    assert.equal(lines.length, 2, JSON.stringify(lines));
    assert.ok(
      lines.some(({ outcome }) => outcome === expected),
      `${id}: ${JSON.stringify(lines)}`,
    );
    seen.push(lines.map(({ outcome }) => outcome).join(' and '));
  };
  await download(client, { path, to: '/tmp/observed.mp3', id: `whole-${run}` });
  await check(`whole-${run}`, 'ok');
  const slow = `/api/stream?url=${filmPage(source, 80_000)}`;
  await shell(
    client,
    `timeout 5 node /verify/client.mjs '${JSON.stringify({ task: 'download', path: slow, to: '/tmp/left.mp3', id: `left-${run}` })}'`,
  );
  await check(`left-${run}`, 'aborted');
  return `gateway and service: ${seen.join('; ')}`;
}
