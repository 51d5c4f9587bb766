/** SIGTERM lets running streams end, up to the grace period. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { docker, inspect } from '../docker.js';
import { download, poll } from '../place/box.js';
import { replicaOf } from '../place/gateway-log.js';
import { assertWholeFilm, filmPage } from '../place/main-job.js';
import { downloadSlowly, slowBytesPerSecond } from '../place/slow-client.js';
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
  for (const service of ['gateway', 'video-dl'] as const) {
    for (const way of ['published port', "container's address"] as const) {
      await report.check(`a slow client keeps every byte when ${service} restarts (${way})`, () =>
        restored(async () => restartDuring(service, await addressOf(way, compose))),
      );
    }
  }
  await report.check('a stream longer than the grace period is broken off visibly', () =>
    restored(() => stopDuring(80_000, false)),
  );
}

type Way = 'published port' | "container's address";

/** Where the gateway is reached from this machine: through Docker's proxy, or as clients of the network reach it. */
async function addressOf(way: Way, compose: Compose): Promise<string> {
  if (way === "container's address") return upstreamOf(await containerOf('gateway'), 'edge', 8080);
  const port = (await compose('port', 'gateway', '8080')).trim().split(':').at(-1) ?? '';
  return `127.0.0.1:${port}`;
}

/** The whole film fits into the buffers between server and client, so that all of it is on its way at the restart. */
async function restartDuring(service: 'gateway' | 'video-dl', address: string): Promise<string> {
  const url = `http://${address}/api/stream/video?url=${filmPage(source)}`;
  const whole = await downloadSlowly(url, Infinity);
  assert.ok(whole.isComplete && whole.status === 200, JSON.stringify(whole));
  const downloading = inBackground(downloadSlowly(url, slowBytesPerSecond));
  await delay(2000);
  const started = performance.now();
  const boxes = await containersOf(service);
  await Promise.all(boxes.map(({ name }) => docker('restart', '--time', '40', name)));
  const restartSeconds = (performance.now() - started) / 1000;
  const slow = await downloading;
  assert.ok(slow.isComplete && slow.bytes === whole.bytes, JSON.stringify({ slow, whole: whole.bytes }));
  return `${(slow.bytes / 1e6).toFixed(1)} MB in ${slow.seconds.toFixed(1)} s; the restart took ${restartSeconds.toFixed(1)} s`;
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
