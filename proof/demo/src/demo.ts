import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { logsDir, root, UserError, type Progress } from '@media-services/stack/set-up';
import { makeSampleFilm } from '@media-services/fault-site';
import { drawSamplePicture } from '@media-services/fault-site';
import { startSampleSite } from '@media-services/fault-site';
import { deathMessage, startStack, type Stack } from '@media-services/stack';
import { stopRequested } from '@media-services/stack';
import { demoJobs, runJob, type Job, type JobResult } from './jobs.js';
import { sizeText, table } from './table.js';

/** Receives progress messages. */
type Shown = Pick<Progress, 'say' | 'step'>;

const outputDir = join(root, 'demo-output');
const demoLogs = join(logsDir, 'demo');

/**
 * Does the main job of both services, end to end, on the sample site; the results are
 * in `demo-output/`.
 * @param env of what is started
 * @returns 0 if every result is right, else 1
 */
export async function runDemo(progress: Shown, env: NodeJS.ProcessEnv): Promise<number> {
  rmSync(outputDir, { recursive: true, force: true });
  mkdirSync(outputDir);
  const mediaDir = mkdtempSync(join(tmpdir(), 'media-services-demo-'));
  try {
    await progress.step('Sample film', () => makeSampleFilm(mediaDir));
    const picture = await drawSamplePicture();
    await writeFile(join(outputDir, 'vase.jpg'), picture.jpeg);
    await using site = await startSampleSite(mediaDir);
    await using stack = await startStack({
      env: { ...env, ALLOWED_PRIVATE_SOURCES: site.host },
      logsDir: demoLogs,
    });
    const interrupted = stopRequested(() => stack.kill()).then((reason) => `interrupted (${reason})`);
    const died = stack.died.then(deathMessage);
    const results = await Promise.race([
      runAll(progress, stack, demoJobs({ site, picture, outputDir })),
      Promise.race([interrupted, died]).then((reason) => Promise.reject(new UserError(reason))),
    ]);
    return report(progress, results);
  } finally {
    rmSync(mediaDir, { recursive: true, force: true });
  }
}

async function runAll(progress: Shown, stack: Stack, jobs: readonly Job[]): Promise<readonly JobResult[]> {
  await progress.step('Services', (log) => stack.healthy({ log }));
  return progress.step('Main jobs through the gateway', async (log) => {
    const results = [];
    for (const job of jobs) {
      log(job.name);
      results.push(await runJob(job, stack.url));
    }
    return results;
  });
}

function report(progress: Shown, results: readonly JobResult[]): number {
  const rows = results.map((result) => [
    result.problems.length === 0 ? '✓' : '✗',
    result.name,
    sizeText(result.bytes),
    `${(result.firstByteMs / 1000).toFixed(2)} s`,
    `${(result.totalMs / 1000).toFixed(2)} s`,
    result.problems.length === 0 ? result.summary : result.problems.join('; '),
  ]);
  progress.say(`\n${table(['', 'Job', 'Size', 'First byte', 'Total', 'Found'], rows)}\n`);
  const wrong = results.filter(({ problems }) => problems.length > 0).length;
  progress.say(
    wrong === 0
      ? `All ${results.length} results are right. They are in ${relative(process.cwd(), outputDir) || '.'}/`
      : `${wrong} of ${results.length} results are wrong. Logs: ${demoLogs}`,
  );
  return wrong === 0 ? 0 : 1;
}
