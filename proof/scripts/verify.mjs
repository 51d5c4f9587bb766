// npm run proof -- compose, engines, swarm, kubernetes, workflows, arm64: proves what
// deploys the services. Installs the dependencies; the rest is in proof/verify.
import { delimiter, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import {
  ensurePnpm,
  installDependencies,
  pnpmFolder,
  Progress,
  root,
  runScript,
  runTurbo,
  UserError,
} from '../../packages/stack/src/set-up/index.mjs';

const flag = /** @type {const} */ ({ type: 'boolean' });
/** @type {Record<string, { usage: string, options?: Record<string, typeof flag> }>} */
const places = {
  compose: {
    usage: `npm run proof -- compose [--no-build | --pull] [--keep]
Builds the images, starts docker-compose.yml as a separate Compose project, and checks it.
  --no-build  use the images that are there
  --pull      pull the images that IMAGE_PREFIX and IMAGE_TAG name
  --keep      leave the containers running at the end
NODE_IMAGE and NGINX_IMAGE name other base images; PORT is the published port, a free one by default.`,
    options: { 'no-build': flag, pull: flag, keep: flag },
  },
  engines: {
    usage: `npm run proof -- engines
Creates the containers of docker-compose.yml on an engine without CPU quotas and on one with one
core, and runs gateway and video-dl under Podman. Needs root, dockerd, podman and the images. PODMAN_RUNTIME is the path of another OCI runtime.`,
  },
  swarm: {
    usage: `npm run proof -- swarm
Deploys deploy/swarm/stack.yml on the Docker engine that is there, checks it and removes it.
Needs the images, with the model in bg-removal's. IMAGE_PREFIX and IMAGE_TAG name them; PORT is the
published port (18081).`,
  },
  kubernetes: {
    usage: `npm run proof -- kubernetes [--manifests | --cluster] [--keep]
Validates the manifests against the API schemas of Kubernetes, then deploys them on the cluster
that kubectl reaches, which must already have the images, and checks them there.
  --manifests  the first part only: needs no cluster
  --cluster    the second part only
  --keep       leave the namespaces at the end`,
    options: { manifests: flag, cluster: flag, keep: flag },
  },
  workflows: {
    usage: `npm run proof -- workflows
Checks .github with actionlint and zizmor, and what a release does.`,
  },
  arm64: {
    usage: `npm run proof -- arm64
Checks that every dependency has a build for 64-bit ARM under Linux.`,
  },
};

const [place = '', ...args] = process.argv.slice(2);

await runScript({ ...(places[place] ?? { usage: 'npm run proof -- PLACE' }), args }, async () => {
  const progress = new Progress();
  await progress.step('pnpm', ensurePnpm);
  const env = { ...process.env, PATH: [pnpmFolder, process.env.PATH].join(delimiter) };
  await progress.step('Dependencies', (log) => installDependencies({ root, env, log, set: 'all' }));
  await progress.step('Build', async (log) => {
    const args = ['--filter=@media-services/verify...'];
    const { ok, output } = await runTurbo({ root, env, task: 'build', log, args });
    if (!ok) throw new UserError(`The build failed:\n${output}`);
  });
  const program = join(root, 'proof', 'verify', 'dist', `${place}.js`);
  const { status, error } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit', env });
  if (error) throw error;
  return status ?? 1;
});
