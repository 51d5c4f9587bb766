/** SIGTERM lets running streams end, up to the grace period. */
import assert from 'node:assert/strict';
import { docker, inspect } from '../docker.js';
import { download, poll } from '../place/box.js';
import { replicaOf } from '../place/gateway-log.js';
import { assertWholeFilm, filmPage } from '../place/main-job.js';
import type { Report } from '../report.js';
import { inBackground, NotYet, until } from '../wait.js';
import { streamsOn } from './loss.js';
import { containerOf, containersOf, gatewayLog, source, upstreamOf, type Compose } from './project.js';
import { scaleUp } from './scaling.js';

export async function checkStopping(report: Report, compose: Compose): Promise<void> {
  const restored = async (check: () => Promise<string>) => {
    try {
      return await check();
    } finally {
      await scaleUp(compose);
    }
  };
  await report.check('a graceful stop in the middle of a stream lets it end', () =>
    restored(() => stopDuring(700_000, true)),
  );
  await report.check('a stream longer than the grace period is broken off visibly', () =>
    restored(() => stopDuring(80_000, false)),
  );
}

async function stopDuring(bytesPerSecond: number, ends: boolean): Promise<string> {
  const poller = await containerOf('client');
  const client = await containerOf('client', 2);
  const id = `stop-${bytesPerSecond}`;
  const path = `/api/stream?url=${filmPage(source, bytesPerSecond)}`;
  const streaming = inBackground(download(client, { path, to: '/tmp/stop.mp3', id }));
  const replicas = await containersOf('video-dl');
  // The log names it only at the end.
  const box = await until('the stream on a replica', 60, async () => {
    const running = await streamsOn(replicas);
    return replicas[running.findIndex((count) => count > 0)] ?? new NotYet('on none');
  });
  const address = await upstreamOf(box, 'video', 3001);
  const started = performance.now();
  const polling = inBackground(poll(poller, { path: '/video-dl/api/health', seconds: 6 }));
  await docker('stop', '-t', '40', box.name);
  const stopSeconds = (performance.now() - started) / 1000;
  const [answer, polled] = await Promise.all([streaming, polling]);
  const [line] = await gatewayLog(id);
  assert.ok(line !== undefined && replicaOf(line) === address, 'the stream was on another replica');
  assert.equal((await inspect(box)).State.ExitCode, 0);
  assert.deepEqual(polled.failures, [], 'other requests failed');
  assert.equal(answer.complete, ends, JSON.stringify(answer));
  if (ends) await assertWholeFilm(client, '/tmp/stop.mp3');
  return `stopped in ${stopSeconds.toFixed(1)} s with exit code 0; the stream ${ends ? 'is whole' : 'broke off'} after ${answer.seconds.toFixed(1)} s; ${polled.total} requests meanwhile: 0 failed`;
}
