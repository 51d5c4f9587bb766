/** npm run proof -- compose: proves the images and docker-compose.yml on the Docker engine that is there. */
import { parseArgs } from 'node:util';
import { onFreePort } from '@media-services/stack';
import { checkAdditions } from './compose/additions.js';
import { prepareBuild } from './compose/build.js';
import { checkContainers } from './compose/containers.js';
import { checkDegraded, checkLittleMemory, checkSmallMachine } from './compose/degraded.js';
import { checkKeys } from './compose/keys.js';
import { checkLoss } from './compose/loss.js';
import { checkNoStorage } from './compose/no-storage.js';
import { checkObserving } from './compose/observing.js';
import {
  composeFor,
  containerOf,
  containersOf,
  imageName,
  project,
  source,
  type Compose,
  type ComposeSetting,
} from './compose/project.js';
import { checkScaling } from './compose/scaling.js';
import { checkSettings } from './compose/settings.js';
import { checkStopping } from './compose/stopping.js';
import { checkVersions } from './compose/versions.js';
import { docker } from './docker.js';
import { distributePicture } from './place/box.js';
import { checkMainJob } from './place/main-job.js';
import { Report } from './report.js';

/** Services with an image of this project, called like them. */
const built = ['gateway', 'bg-removal', 'video-dl'];

const { values } = parseArgs({
  options: {
    'no-build': { type: 'boolean' },
    pull: { type: 'boolean' },
    keep: { type: 'boolean' },
  },
});
await main();

async function main(): Promise<void> {
  const report = new Report();
  const { overrides, buildOptions, env } = await prepareBuild();
  const setting = {
    overrides,
    // Checks as frequent as `up --wait` needs them.
    env: {
      HEALTH_INTERVAL: '5s',
      ...env,
      PORT: process.env.PORT ?? String(await onFreePort((free) => Promise.resolve(free))),
    },
  };
  const compose = composeFor(setting);
  const engine = (await docker('version', '-f', '{{.Server.Version}}')).trim();
  process.stdout.write(`Engine ${engine}, project ${project}\n`);
  try {
    await down(compose);
    if (values.pull) await report.check('the images are pulled', () => pull(compose));
    else if (!values['no-build']) await report.check('the images build', () => build(compose, buildOptions));
    if (report.failed === 0) await report.check('everything is healthy after `up`', () => up(compose));
    if (report.failed === 0) await proofs(report, compose, setting);
  } finally {
    if (!values.keep) await report.check('`down` leaves nothing', () => down(compose));
  }
  report.end();
}

async function build(compose: Compose, options: readonly string[]): Promise<string> {
  // One after the other: each is a compiler and a package manager.
  for (const service of built) await compose('build', ...options, service);
  return imageSizes();
}

async function pull(compose: Compose): Promise<string> {
  // What is here already would not be asked of the registry.
  for (const name of built) await docker('image', 'rm', '--force', imageName(name));
  await compose('pull', ...built);
  return imageSizes();
}

async function imageSizes(): Promise<string> {
  const format = '{{.Repository}} {{.Size}}';
  const sizes = await docker('images', '--format', format, '--filter', `reference=${imageName('*')}`);
  return sizes.trim().split('\n').sort().join(', ');
}

async function up(compose: Compose): Promise<void> {
  try {
    await compose('up', '-d', '--no-build', '--wait', '--wait-timeout', '600');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\n${await compose('logs', '--tail', '20')}`, { cause: error });
  }
  await distributePicture(await containerOf('bg-removal'), await containersOf('client'));
}

async function proofs(report: Report, compose: Compose, setting: ComposeSetting): Promise<void> {
  await checkMainJob(report, {
    client: await containerOf('client'),
    source,
    forbidden: ['http://gateway:8080/', 'http://169.254.169.254/latest/', 'http://source:8001/'],
  });
  await checkContainers(report);
  await checkNoStorage(report);
  await checkScaling(report, compose);
  await checkLoss(report, compose);
  await checkStopping(report, compose);
  await checkObserving(report);
  await checkVersions(report);
  await checkKeys(report, setting);
  await checkSettings(report);
  await checkAdditions(report, setting);
  await checkDegraded(report, compose);
  await checkSmallMachine(report, setting);
  await checkLittleMemory(report, setting);
}

async function down(compose: Compose): Promise<void> {
  await compose('down', '--volumes', '--remove-orphans', '--timeout', '5');
  const filter = ['-q', '--filter', `label=com.docker.compose.project=${project}`];
  // Compose labels its images too, and so whatever else is started from them.
  const ofCompose = ['--filter', 'label=com.docker.compose.container-number'];
  const left = `${await docker('ps', '-a', ...filter, ...ofCompose)}${await docker('network', 'ls', ...filter)}`;
  if (left.trim() !== '') throw new Error('containers or networks are left');
}
