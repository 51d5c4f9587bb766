/** A stream leaves nothing behind and buffers nothing on disk, even with a slow client. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { docker } from '../docker.js';
import { download, shell, type Box } from '../place/box.js';
import { filmPage } from '../place/main-job.js';
import type { Report } from '../report.js';
import { inBackground } from '../wait.js';
import { containerOf, containersOf, source } from './project.js';

const allowedKiB = 1024;

export async function checkNoStorage(report: Report): Promise<void> {
  await report.check('a stream writes nothing to disk, not even for a slow client', async () => {
    const watched = [...(await containersOf('gateway')), ...(await containersOf('video-dl'))];
    const changes = () => Promise.all(watched.map(({ name }) => docker('diff', name)));
    const before = await Promise.all(watched.map(temporaryKiB));
    const changedBefore = await changes();
    const isOver = new AbortController();
    const work = download(await containerOf('client', 1), {
      path: `/api/stream/video?url=${filmPage(source)}`,
      to: '/dev/null',
      id: 'slow',
      bytesPerSecond: 1_500_000,
    });
    const downloading = inBackground(work.finally(() => isOver.abort()));
    let peak = 0;
    while (!isOver.signal.aborted) {
      const now = await Promise.all(watched.map(temporaryKiB));
      peak = Math.max(peak, ...now.map((value, index) => value - (before[index] ?? 0)));
      await delay(200);
    }
    const answer = await downloading;
    assert.ok(answer.complete, JSON.stringify(answer));
    assert.deepEqual(await changes(), changedBefore, 'files of containers have changed');
    assert.ok(
      peak < allowedKiB,
      `temporary files grew to ${peak} KiB during a stream of ${answer.bytes} bytes`,
    );
    return `${(answer.bytes / 1e6).toFixed(1)} MB over ${answer.seconds.toFixed(1)} s; temporary files grew by at most ${peak} KiB`;
  });
}

async function temporaryKiB(box: Box): Promise<number> {
  const { output } = await shell(box, 'du -sk /tmp 2>/dev/null | cut -f1');
  return Number(output.trim());
}
