/** SIGTERM lets running streams end, up to the grace period. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, containersOf, docker, gatewayLog, inspect, upstreamOf } from '../../engine.mjs';
import { filmPage, probe } from './main-job.mjs';
import { scaled } from './scaling.mjs';

/**
 * @param {import('../../report.mjs').Report} report
 * @param {(args: string[]) => Promise<string>} compose
 */
export async function checkStopping(report, compose) {
  const restored = async (check) => {
    try {
      return await check();
    } finally {
      await compose(['up', '-d', '--no-build', '--wait', '--no-recreate', ...scaled]);
    }
  };
  await report.check('a graceful stop in the middle of a stream lets it end', () =>
    restored(() => stopDuring(700_000, true)),
  );
  await report.check('a stream longer than the grace period is broken off visibly', () =>
    restored(() => stopDuring(80_000, false)),
  );
}

async function stopDuring(rate, ends) {
  const [poller, , client] = await containersOf('client');
  const id = `stop-${rate}`;
  const path = `/api/stream?url=${filmPage(rate)}`;
  const streaming = ask(client, { task: 'download', path, to: '/tmp/stop.mp3', id: `${id}-stream` });
  await delay(4000);
  const container = await replicaOfStream();
  const address = await upstreamOf(container, 'video', 3001);
  const started = Date.now();
  const polling = ask(poller, { task: 'poll', path: '/video-dl/api/health', seconds: 6 });
  await docker('stop', '-t', '40', container);
  const stopSeconds = (Date.now() - started) / 1000;
  const [answer, poll] = await Promise.all([streaming, polling]);
  const [{ upstream }] = await gatewayLog(`${id}-stream`);
  assert.equal(upstream, address, 'the stream was on another replica');
  const { State } = await inspect(container);
  assert.equal(State.ExitCode, 0);
  assert.equal(poll.failures.length, 0, `other requests failed: ${JSON.stringify(poll.failures[0])}`);
  assert.equal(answer.complete, ends, JSON.stringify(answer));
  if (ends) assert.ok(Math.abs((await probe(client, '/tmp/stop.mp3')).seconds - 30) < 0.2);
  return `stopped in ${stopSeconds.toFixed(1)} s with exit code 0; the stream ${ends ? 'is whole' : 'broke off'} after ${answer.seconds.toFixed(1)} s; ${poll.total} requests meanwhile: 0 failed`;
}

/** The replica that runs ffmpeg; the log names it only at the end. */
async function replicaOfStream() {
  for (const container of await containersOf('video-dl')) {
    const processes = await docker('top', container, '-eo', 'pid,comm');
    if (/ffmpeg/.test(processes)) return container;
  }
  throw new Error('no replica runs ffmpeg');
}
