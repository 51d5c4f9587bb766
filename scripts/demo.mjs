// npm run demo: the main job of both services, end to end, on a sample site of its own.
// Results are in demo-output/; exits 0 only if every one of them is right.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { demoJobs, runJob, saveSamplePicture } from './lib/demo/jobs.mjs';
import { makeSampleFilm } from './lib/demo/sample-media.mjs';
import { drawSamplePicture } from './lib/demo/sample-picture.mjs';
import { startSampleSite } from './lib/demo/sample-site.mjs';
import { sizeText, table } from './lib/demo/table.mjs';
import { Progress } from './lib/progress.mjs';
import { logsDir, root } from './lib/project.mjs';
import { setUp } from './lib/set-up/set-up.mjs';
import { freePort } from './lib/stack/ports.mjs';
import { deathNotice, startStack } from './lib/stack/stack.mjs';
import { toldToStop } from './lib/stack/stop-signals.mjs';
import { runCommandLine, UserError } from './lib/user-error.mjs';

const outputDir = join(root, 'demo-output');

await runCommandLine(async () => {
  const progress = new Progress();
  const env = await setUp({ progress });
  rmSync(outputDir, { recursive: true, force: true });
  mkdirSync(outputDir);
  const mediaDir = mkdtempSync(join(tmpdir(), 'media-services-demo-'));
  const release = [() => rmSync(mediaDir, { recursive: true, force: true })];
  try {
    await progress.step('Sample film', () => makeSampleFilm(mediaDir));
    const picture = await drawSamplePicture();
    await saveSamplePicture(picture, outputDir);
    const site = await startSampleSite(mediaDir);
    release.unshift(() => site.close());
    const stack = await startDemoStack(env, site.host);
    release.unshift(() => stack.stop());
    const interrupted = toldToStop(() => stack.kill()).then((reason) => `interrupted (${reason})`);
    const died = stack.died.then(deathNotice);
    const results = await Promise.race([
      runAll({ progress, stack, jobs: demoJobs({ site, picture, outputDir }) }),
      Promise.race([interrupted, died]).then((reason) => Promise.reject(new UserError(reason))),
    ]);
    return report(progress, results);
  } finally {
    for (const each of release) await each();
  }
});

async function startDemoStack(env, siteHost) {
  return startStack({
    port: await freePort(),
    env: { ...env, ALLOWED_PRIVATE_SOURCES: siteHost },
    freeServicePorts: true,
    logsDir: join(logsDir, 'demo'),
  });
}

async function runAll({ progress, stack, jobs }) {
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

function report(progress, results) {
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
      : `${wrong} of ${results.length} results are wrong. Logs: ${join(logsDir, 'demo')}`,
  );
  return wrong === 0 ? 0 : 1;
}
