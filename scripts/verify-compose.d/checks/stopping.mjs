/** SIGTERM lets running streams end, up to the grace period. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, containersOf, docker, gatewayLog, inspect, upstreamOf } from '../engine.mjs';
import { filmPage, probe } from './main-job.mjs';

/**
 * @param {import('../report.mjs').Report} report
 * @param {(args: string[]) => Promise<string>} compose
 */
export async function checkStopping(report, compose) {
  await report.check('a graceful stop in the middle of a stream lets it end', () =>
    stopDuring(700_000, true),
  );
  await compose([
    'up',
    '-d',
    '--no-build',
    '--wait',
    '--no-recreate',
    '--scale',
    'video-dl=2',
    '--scale',
    'bg-removal=3',
  ]);
  await report.check('a stream longer than the grace period is broken off visibly', () =>
    stopDuring(80_000, false),
  );
  await compose([
    'up',
    '-d',
    '--no-build',
    '--wait',
    '--no-recreate',
    '--scale',
    'video-dl=2',
    '--scale',
    'bg-removal=3',
  ]);
}

async function stopDuring(rate, ends) {
  const [poller, , client] = await containersOf('client');
  const id = `stop-${rate}`;
  const path = `/api/stream?url=${filmPage(rate)}`;
  const streaming = ask(client, { task: 'download', path, to: '/tmp/stop.mp3', id: `${id}-stream` });
  await delay(4000);
  const container = await replicaOfStream();
  const started = Date.now();
  const polling = ask(poller, { task: 'poll', path: '/video-dl/api/health', seconds: 6 });
  await docker('stop', '-t', '40', container);
  const stopSeconds = (Date.now() - started) / 1000;
  const [answer, poll] = await Promise.all([streaming, polling]);
  const [{ upstream }] = await gatewayLog(`${id}-stream`);
  assert.equal(upstream, await addressOf(container), 'the stream was on another replica');
  const { State } = await inspect(container);
  assert.deepEqual([State.ExitCode, State.OOMKilled], [0, false]);
  assert.deepEqual(poll.failures, [], 'requests to the other replica failed');
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

const addresses = new Map();
async function addressOf(container) {
  return addresses.get(container) ?? upstreamOf(container, 'video', 3001);
}
