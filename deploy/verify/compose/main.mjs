import { parseArgs } from 'node:util';
import { prepareBuild } from './build.mjs';
import { checkContainers } from './checks/containers.mjs';
import { checkDegraded } from './checks/degraded.mjs';
import { checkLoss } from './checks/loss.mjs';
import { checkMainJob, distributePicture } from './checks/main-job.mjs';
import { checkNoStorage } from './checks/no-storage.mjs';
import { checkScaling } from './checks/scaling.mjs';
import { checkStopping } from './checks/stopping.mjs';
import { composeFor, docker, imageName, project, root, run } from '../engine.mjs';
import { Report } from '../report.mjs';

const usage = `scripts/verify-compose [--no-build] [--keep]
Builds the images, starts docker-compose.yml as the project ${project} and proves it.
  --no-build  use the images that are there
  --keep      leave the containers running at the end
NODE_IMAGE, NGINX_IMAGE and VALKEY_IMAGE name other base images; PORT (18080) is the published port.
`;

const { values } = parseArgs({
  options: { 'no-build': { type: 'boolean' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) process.stdout.write(usage);
else await main();

async function main() {
  const report = new Report();
  const setting = await prepareBuild();
  setting.env.PORT = process.env.PORT ?? '18080';
  const compose = composeFor(setting);
  process.stdout.write(
    `Engine ${(await docker('version', '-f', '{{.Server.Version}}')).trim()}, project ${project}\n`,
  );
  try {
    await down(compose);
    if (!values['no-build']) await report.check('the images build', () => build(compose));
    await report.check('everything is healthy after `up`', () => up(compose));
    if (report.failed === 0) await proofs(report, compose);
  } finally {
    if (!values.keep) await report.check('`down` leaves nothing', () => down(compose));
  }
  process.stdout.write(`${report.summary()}\n`);
  if (report.failed > 0) process.exitCode = 1;
}

async function build(compose) {
  // One after the other: each is a compiler and a package manager.
  for (const service of ['gateway', 'bg-removal', 'video-dl']) await compose(['build', service]);
  const sizes = await docker(
    'images',
    '--format',
    '{{.Repository}} {{.Size}}',
    '--filter',
    `reference=${imageName('*')}`,
  );
  return sizes.trim().split('\n').sort().join(', ');
}

async function up(compose) {
  await compose(['up', '-d', '--no-build', '--wait', '--wait-timeout', '180']);
  const picture = await run(
    'docker',
    [
      'run',
      '--rm',
      '-v',
      `${root}deploy/verify/compose/inside:/verify:ro`,
      imageName('bg-removal'),
      'node',
      '/verify/picture.mjs',
    ],
    { binary: true },
  );
  await distributePicture(picture);
}

async function proofs(report, compose) {
  await checkMainJob(report);
  await checkContainers(report);
  await checkNoStorage(report);
  await checkScaling(report, compose);
  await checkLoss(report, compose);
  await checkStopping(report, compose);
  await checkDegraded(report, compose);
}

async function down(compose) {
  await compose(['down', '--volumes', '--remove-orphans', '--timeout', '5']);
  const left = await docker('ps', '-aq', '--filter', `label=com.docker.compose.project=${project}`);
  const networks = await docker(
    'network',
    'ls',
    '-q',
    '--filter',
    `label=com.docker.compose.project=${project}`,
  );
  if (`${left}${networks}`.trim() !== '') throw new Error('containers or networks are left');
}
