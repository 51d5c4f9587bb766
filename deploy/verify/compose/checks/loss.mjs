/** A replica that is lost takes only what ran on it along. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, containersOf, docker, gatewayLog, upstreamOf } from '../../engine.mjs';
import { filmPage, probe } from './main-job.mjs';
import { scaled } from './scaling.mjs';

/**
 * @param {import('../../report.mjs').Report} report
 * @param {(args: string[]) => Promise<string>} compose
 */
export async function checkLoss(report, compose) {
  await report.check(
    'killing a replica of video-dl under load fails only the streams on it, visibly',
    killVideoDl,
  );
  await report.check('killing a replica of bg-removal under load fails only the images on it', killBgRemoval);
  await report.check('the lost replicas come back and are used again', async () => {
    await compose(['up', '-d', '--no-build', '--wait', '--no-recreate', ...scaled]);
    assert.equal((await containersOf('video-dl')).length + (await containersOf('bg-removal')).length, 5);
  });
}

async function killVideoDl() {
  const [poller, , , streamer] = await containersOf('client');
  const [, victim] = await containersOf('video-dl');
  const victimAddress = await upstreamOf(victim, 'video', 3001);
  const path = `/api/stream?url=${filmPage(700_000)}`;
  const streams = [0, 1, 2, 3].map((index) =>
    ask(streamer, { task: 'download', path, to: `/tmp/loss-${index}.mp3`, id: `loss-${index}` }),
  );
  await delay(3500);
  const polling = ask(poller, { task: 'poll', path: '/video-dl/api/health', seconds: 10 });
  await delay(1000);
  await docker('kill', victim);
  const [poll, ...answers] = await Promise.all([polling, ...streams]);
  assert.equal(
    poll.failures.length,
    0,
    `${poll.failures.length} of ${poll.total} other requests failed: ${JSON.stringify(poll.failures[0])}`,
  );
  const log = await gatewayLog('loss-');
  let lost = 0;
  for (const [index, answer] of answers.entries()) {
    const { upstream } = log.find(({ requestId }) => requestId === `loss-${index}`);
    const wasOnVictim = upstream.split(/, | : /).at(-1) === victimAddress;
    assert.equal(answer.complete, !wasOnVictim, `stream ${index} on ${upstream}: ${JSON.stringify(answer)}`);
    if (answer.complete) await probe(streamer, `/tmp/loss-${index}.mp3`);
    lost += wasOnVictim;
  }
  assert.ok(lost >= 1 && lost < 4, `${lost} of 4 streams were on the victim`);
  return `${poll.total} other requests: 0 failed, slowest ${poll.slowest} ms; of 4 streams the ${lost} on it broke off visibly`;
}

async function killBgRemoval() {
  const [poller, client] = await containersOf('client');
  const [, victim] = await containersOf('bg-removal');
  const victimAddress = await upstreamOf(victim, 'images', 3002);
  const images = ask(client, {
    task: 'requests',
    path: '/api/remove-background',
    picture: '/tmp/picture.jpg',
    count: 5,
    id: 'imageloss',
  });
  const polling = ask(poller, { task: 'poll', path: '/bg-removal/api/health', seconds: 8 });
  await delay(900);
  await docker('kill', victim);
  const [answers, poll] = await Promise.all([images, polling]);
  assert.equal(
    poll.failures.length,
    0,
    `${poll.failures.length} of ${poll.total} other requests failed: ${JSON.stringify(poll.failures[0])}`,
  );
  const log = await gatewayLog('imageloss-');
  const onVictim = log.filter(({ upstream }) => upstream.split(/, | : /).at(-1) === victimAddress);
  const failed = answers.filter(({ status }) => status !== 200);
  assert.ok(
    failed.length <= onVictim.length,
    `${failed.length} failed, ${onVictim.length} ran on the victim`,
  );
  assert.ok(
    failed.every(({ status, json }) => status === 502 && json?.code !== undefined),
    JSON.stringify(failed),
  );
  return `${poll.total} other requests: 0 failed, slowest ${poll.slowest} ms; of 5 images ${failed.length} failed, ${onVictim.length} ran on it`;
}
