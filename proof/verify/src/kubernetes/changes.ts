/** What clients see while pods come and go. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { download, picturePath, poll, requests, shell, type Box } from '../place/box.js';
import { replicaOf } from '../place/gateway-log.js';
import { assertWholeFilm, filmPage } from '../place/main-job.js';
import { slowBytesPerSecond } from '../place/slow-client.js';
import type { Report } from '../report.js';
import { inBackground, NotYet, until } from '../wait.js';
import { gatewayLog, kubectl, podOf, podsOf, product, readyPods, source, type Pod } from './cluster.js';

/** Of two clients, each of another page: all on the same pod is unlikely. */
const streamCount = 8;

export async function checkChanges(report: Report): Promise<void> {
  await report.check('a rolling update lets running streams end and loses no request', rollingUpdate);
  await report.check('a pod deleted under load lets its streams end', () => deletePod(false));
  await report.check('a pod killed under load fails only the streams on it, visibly', () => deletePod(true));
  for (const name of ['gateway', 'video-dl'] as const)
    await report.check(`a slow client keeps every byte when the pods of ${name} are deleted`, () =>
      deleteDuringSlowStream(name),
    );
  await report.check('bg-removal gets more pods under load', scaleOut);
}

/** @returns the downloads, and the client of each */
async function startStreams(id: string) {
  const clients = [await podOf('client', 1), await podOf('client', 2)] as const;
  const clientOf = (index: number) => clients[index % 2 === 0 ? 0 : 1];
  const streams = Array.from({ length: streamCount }, (_, index) => {
    const path = `/api/stream?url=${filmPage(source, 700_000, index)}`;
    const task = { path, to: `/tmp/${id}-${index}.mp3`, id: `${id}-${index}` };
    return inBackground(download(clientOf(index), task));
  });
  return { streams, clientOf };
}

/** A pod that runs some, not all, of the streams. */
function podWithStreams(): Promise<Pod> {
  return until('streams on two pods of video-dl', 60, async () => {
    const pods = await podsOf('video-dl');
    const counts = await Promise.all(pods.map(ffmpegsIn));
    const total = counts.reduce((sum, count) => sum + count, 0);
    const index = counts.findIndex((count) => count > 0 && count < total);
    const found = total === streamCount ? pods[index] : undefined;
    return found ?? new NotYet(counts.join(' + '));
  });
}

async function ffmpegsIn(pod: Pod): Promise<number> {
  const { output } = await shell(pod, 'grep -lx ffmpeg /proc/[0-9]*/comm 2>/dev/null | wc -l');
  return Number(output.trim());
}

async function rollingUpdate(): Promise<string> {
  const id = 'update';
  const before = (await podsOf('video-dl')).map(({ name }) => name);
  const { streams, clientOf } = await startStreams(id);
  await podWithStreams();
  const polling = inBackground(poll(await podOf('client'), { path: '/video-dl/api/health', seconds: 45 }));
  await kubectl(product, ['rollout', 'restart', 'deployment/video-dl']);
  await kubectl(product, ['rollout', 'status', 'deployment/video-dl', '--timeout=180s']);
  const answers = await Promise.all(streams);
  const polled = await polling;
  assert.deepEqual(polled.failures, [], `${polled.failures.length} of ${polled.total} requests failed`);
  for (const [index, answer] of answers.entries()) {
    assert.ok(answer.complete, JSON.stringify(answer));
    await assertWholeFilm(clientOf(index), `/tmp/${id}-${index}.mp3`);
  }
  const after = await readyPods('video-dl', 2);
  assert.ok(after.every(({ name }) => !before.includes(name)));
  return `${streamCount} streams whole; ${polled.total} requests during the update, 0 failed, slowest ${polled.slowestMs} ms`;
}

/** @param abruptly without the grace in which streams may end */
async function deletePod(abruptly: boolean): Promise<string> {
  await readyPods('video-dl', 2);
  const id = abruptly ? 'killed' : 'deleted';
  const { streams, clientOf } = await startStreams(id);
  const victim = await podWithStreams();
  const polling = inBackground(poll(await podOf('client'), { path: '/video-dl/api/health', seconds: 15 }));
  const options = abruptly ? ['--grace-period=0', '--force'] : ['--wait=false'];
  await kubectl(product, ['delete', 'pod', victim.name, ...options]);
  const answers = await Promise.all(streams);
  const polled = await polling;
  assert.deepEqual(polled.failures, [], `${polled.failures.length} of ${polled.total} requests failed`);
  const log = await gatewayLog(id);
  let onVictim = 0;
  for (const [index, answer] of answers.entries()) {
    const line = log.find(({ requestId }) => requestId === `${id}-${index}`);
    assert.ok(line !== undefined, `stream ${index} is not in the gateways' logs`);
    const wasOnVictim = replicaOf(line) === `${victim.ip}:3001`;
    if (wasOnVictim) onVictim += 1;
    assert.equal(answer.complete, !(abruptly && wasOnVictim), `${line.upstream}: ${JSON.stringify(answer)}`);
    if (answer.complete) await assertWholeFilm(clientOf(index), `/tmp/${id}-${index}.mp3`);
  }
  assert.ok(onVictim >= 1 && onVictim < streamCount, `${onVictim} of ${streamCount} were on the pod`);
  const fate = abruptly ? 'broke off visibly' : 'ended whole';
  return `${onVictim} of ${streamCount} streams were on it and ${fate}; ${polled.total} other requests: 0 failed, slowest ${polled.slowestMs} ms`;
}

/** The whole film fits into the buffers between server and client, so that all of it is on its way. */
async function deleteDuringSlowStream(name: 'gateway' | 'video-dl'): Promise<string> {
  const client = await podOf('client');
  const task = { path: `/api/stream/video?url=${filmPage(source)}`, to: '/tmp/slow.mp4', id: `slow-${name}` };
  const whole = await download(client, task);
  assert.ok(whole.complete && whole.status === 200, JSON.stringify(whole));
  const downloading = inBackground(download(client, { ...task, bytesPerSecond: slowBytesPerSecond }));
  await delay(2000);
  const pods = await podsOf(name);
  await kubectl(product, ['delete', 'pod', '--wait=false', ...pods.map((pod) => pod.name)]);
  const slow = await downloading;
  assert.ok(slow.complete && slow.bytes === whole.bytes, JSON.stringify({ slow, whole: whole.bytes }));
  await readyPods(name, pods.length);
  return `${(slow.bytes / 1e6).toFixed(1)} MB in ${slow.seconds.toFixed(1)} s`;
}

/** Images of all clients, again and again, until there are more pods than the autoscaler's minimum: earlier checks may have added one. */
async function scaleOut(): Promise<string> {
  const clients = await podsOf('client');
  const minimum = Number(
    await kubectl(product, ['get', 'hpa', 'bg-removal', '-o', 'jsonpath={.spec.minReplicas}']),
  );
  const started = performance.now();
  const enough = new AbortController();
  let images = 0;
  const send = async (client: Box) => {
    while (!enough.signal.aborted) {
      const task = { path: '/api/remove-background', picture: picturePath, count: 5, concurrency: 1 };
      const answers = await requests(client, { ...task, id: 'load' });
      images += answers.filter(({ status }) => status === 200).length;
    }
  };
  const load = clients.map((client) => inBackground(send(client)));
  try {
    const pods = await until('one more pod of bg-removal', 300, async () => {
      const ready = await podsOf('bg-removal');
      return ready.length > minimum ? ready : new NotYet(`${ready.length} pods`);
    });
    const seconds = Math.round((performance.now() - started) / 1000);
    const scaler = await kubectl(product, ['get', 'hpa', 'bg-removal', '--no-headers']);
    return `at least ${minimum}, then ${pods.length} pods ready after ${seconds} s and ${images} images; ${scaler.trim().split(/\s+/).slice(2, 5).join(' ')}`;
  } finally {
    enough.abort();
    await Promise.all(load);
  }
}
