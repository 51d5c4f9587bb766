/** Losing a replica affects only the requests that it was running. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { docker, processesIn } from '../docker.js';
import { download, picturePath, poll, requests, shell, type Box } from '../place/box.js';
import { replicaOf } from '../place/gateway-log.js';
import { assertWholeFilm, filmPage, problemCode } from '../place/main-job.js';
import type { Report } from '../report.js';
import { inBackground, NotYet, until } from '../wait.js';
import { containerOf, containersOf, gatewayLog, source, upstreamOf, type Compose } from './project.js';
import { scaleUp } from './scaling.js';

/** Two clients with a different page each: all on the same replica is unlikely. */
const streamCount = 8;
const imageCount = 5;

export async function checkLoss(report: Report, compose: Compose): Promise<void> {
  await report.check(
    'killing a replica of video-dl under load fails only the streams on it, visibly',
    killVideoDl,
  );
  await report.check('killing a replica of bg-removal under load fails only the images on it', killBgRemoval);
  await report.check('the lost replicas come back and are used again', () => scaleUp(compose));
}

const healthSchema = z.object({ checks: z.object({ engine: z.object({ active: z.number() }) }) });

/** How many streams of each container have a running ffmpeg. */
export function streamsOn(boxes: readonly Box[]): Promise<number[]> {
  return Promise.all(
    boxes.map(async (box) => (await processesIn(box)).filter((name) => name === 'ffmpeg').length),
  );
}

/** How many streams have sent bytes to the client: the remaining replica takes over one without. */
async function begunStreams(clients: readonly Box[]): Promise<number> {
  const sizes = await Promise.all(clients.map((client) => shell(client, 'stat -c %s /tmp/loss-*.mp3')));
  return sizes.flatMap(({ output }) => output.split('\n').map(Number)).filter(Boolean).length;
}

async function killVideoDl(): Promise<string> {
  const poller = await containerOf('client');
  const streamers = [await containerOf('client', 2), await containerOf('client', 3)] as const;
  const streamerOf = (index: number) => streamers[index % 2 === 0 ? 0 : 1];
  const replicas = await containersOf('video-dl');
  const addresses = await Promise.all(replicas.map((replica) => upstreamOf(replica, 'video', 3001)));
  // Slow enough (23 s) that none ends before the kill.
  const path = (index: number) => `/api/stream?url=${filmPage(source, 350_000, index)}`;
  const streams = Array.from({ length: streamCount }, (_, index) =>
    inBackground(
      download(streamerOf(index), { path: path(index), to: `/tmp/loss-${index}.mp3`, id: `loss-${index}` }),
    ),
  );
  // Not after a fixed time: on a busy machine none might run yet, and all would go to the remaining replica.
  const victim = await until('streams on both replicas', 60, async () => {
    const begun = await begunStreams(streamers);
    if (begun < streamCount) return new NotYet(`${begun} begun`);
    const running = await streamsOn(replicas);
    const total = running.reduce((sum, count) => sum + count, 0);
    const index = running.findIndex((count) => count > 0 && count < total);
    const found = total === streamCount ? replicas[index] : undefined;
    return found ?? new NotYet(running.join(' + '));
  });
  const victimAddress = addresses[replicas.indexOf(victim)];
  const polling = inBackground(poll(poller, { path: '/video-dl/api/health', seconds: 10 }));
  await docker('kill', victim.name);
  const polled = await polling;
  const answers = await Promise.all(streams);
  assert.deepEqual(polled.failures, [], `${polled.failures.length} of ${polled.total} other requests failed`);
  const log = await gatewayLog('loss-');
  let lost = 0;
  for (const [index, answer] of answers.entries()) {
    const line = log.find(({ requestId }) => requestId === `loss-${index}`);
    assert.ok(line !== undefined, `stream ${index} is not in the gateway's log`);
    const wasOnVictim = replicaOf(line) === victimAddress;
    assert.equal(
      answer.complete,
      !wasOnVictim,
      `stream ${index} on ${line.upstream}: ${JSON.stringify(answer)}`,
    );
    if (wasOnVictim) lost += 1;
    else await assertWholeFilm(streamerOf(index), `/tmp/loss-${index}.mp3`);
  }
  assert.ok(lost >= 1 && lost < streamCount, `${lost} of ${streamCount} streams were on the victim`);
  return `${polled.total} other requests: 0 failed, slowest ${polled.slowestMs} ms; of ${streamCount} streams the ${lost} on it broke off visibly`;
}

/** How many images the network of a replica works on, by its health. */
async function runningImages(box: Box): Promise<number> {
  const ask = `fetch('http://127.0.0.1:3002/api/health').then(async (a) => console.log(await a.text()))`;
  const { output } = await shell(box, `node -e "${ask}"`);
  return healthSchema.parse(JSON.parse(output)).checks.engine.active;
}

async function killBgRemoval(): Promise<string> {
  const poller = await containerOf('client');
  const client = await containerOf('client', 1);
  const victim = await containerOf('bg-removal', 1);
  const victimAddress = await upstreamOf(victim, 'images', 3002);
  const polling = inBackground(poll(poller, { path: '/bg-removal/api/health', seconds: 10 }));
  const id = 'imageloss-';
  const images = inBackground(
    requests(client, { path: '/api/remove-background', picture: picturePath, count: imageCount, id }),
  );
  await until('an image on the victim', 60, async () => {
    const count = await runningImages(victim);
    return count > 0 ? true : new NotYet(`${count} running`);
  });
  await docker('kill', victim.name);
  const [answers, polled] = await Promise.all([images, polling]);
  assert.deepEqual(polled.failures, [], `${polled.failures.length} of ${polled.total} other requests failed`);
  const onVictim = (await gatewayLog(id)).filter((line) => replicaOf(line) === victimAddress);
  const failed = answers.filter(({ status }) => status !== 200);
  assert.ok(
    failed.length >= 1 && failed.length <= onVictim.length,
    `${failed.length} failed, ${onVictim.length} ran on the victim`,
  );
  for (const answer of failed) {
    assert.equal(answer.status, 502, JSON.stringify(answer));
    assert.notEqual(problemCode(answer.json), '');
  }
  return `${polled.total} other requests: 0 failed, slowest ${polled.slowestMs} ms; of ${imageCount} images ${failed.length} failed, ${onVictim.length} ran on it`;
}
