/** A stream leaves nothing behind and spools nothing, also with a client that reads slowly. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, containersOf, docker, shell } from '../../engine.mjs';
import { filmPage } from './main-job.mjs';

const allowedKiB = 1024;

/** @param {import('../../report.mjs').Report} report */
export async function checkNoStorage(report) {
  await report.check('a stream writes nothing to disk, not even for a slow client', async () => {
    const [client] = (await containersOf('client')).slice(1);
    const watched = [...(await containersOf('gateway')), ...(await containersOf('video-dl'))];
    const before = await Promise.all(watched.map(temporaryKiB));
    const changed = await Promise.all(watched.map((container) => docker('diff', container)));
    const path = `/api/stream/video?url=${filmPage()}`;
    let running = true;
    const download = ask(client, {
      task: 'download',
      path,
      to: '/dev/null',
      id: 'slow',
      bytesPerSecond: 1_500_000,
    }).finally(() => (running = false));
    let peak = 0;
    while (running) {
      const now = await Promise.all(watched.map(temporaryKiB));
      peak = Math.max(peak, ...now.map((value, index) => value - before[index]));
      await delay(200);
    }
    const answer = await download;
    assert.ok(answer.complete, JSON.stringify(answer));
    for (const [index, container] of watched.entries()) {
      assert.equal(await docker('diff', container), changed[index], `${container} has changed files`);
    }
    assert.ok(
      peak < allowedKiB,
      `temporary files grew to ${peak} KiB during a stream of ${answer.bytes} bytes`,
    );
    return `${(answer.bytes / 1e6).toFixed(1)} MB over ${answer.seconds.toFixed(1)} s; temporary files grew by at most ${peak} KiB`;
  });
}

async function temporaryKiB(container) {
  const { output } = await shell(container, 'du -sk /tmp 2>/dev/null | cut -f1');
  return Number(output.trim());
}
