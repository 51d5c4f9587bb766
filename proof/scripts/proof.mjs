// npm run proof -- NAME ARGS…: everything that proves the project and isn't part of `npm test`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root, runCommandLine, UserError } from '../../packages/stack/src/set-up/index.mjs';

const withPnpm = join(root, 'scripts', 'with-pnpm.mjs');
const script = (/** @type {string} */ name) => join(import.meta.dirname, `${name}.mjs`);
const verify = (/** @type {string} */ place) => [script('verify'), place];

/** @type {Readonly<Record<string, { about: string, programs: readonly (readonly string[])[] }>>} */
const proofs = {
  docs: {
    about: 'generates docs/errors.md, docs/configuration.md, .env.example and the alert rules',
    programs: [
      [withPnpm, 'turbo', 'run', 'build', '--filter=@media-services/gateway...'],
      [join(root, 'nginx', 'dist', 'write-documents.js')],
    ],
  },
  security: {
    about: 'the tests of limits and safeguards alone',
    programs: [
      [withPnpm, 'turbo', 'run', 'build'],
      [
        ...[withPnpm, 'turbo', 'run', 'test', '--concurrency=1', '--'],
        ...['security.test', '--passWithNoTests'],
      ],
    ],
  },
  sites: { about: 'the double of popular sites, with another yt-dlp', programs: [[script('test-sites')]] },
  corpora: {
    about: 'your media and images, compared with ffmpeg and libvips',
    programs: [[script('test-corpora')]],
  },
  live: { about: 'public pages on the internet, or the double of sites', programs: [[script('live')]] },
  fuzz: { about: 'schemathesis over the OpenAPI documents', programs: [[script('fuzz')]] },
  soak: { about: 'load, faults and killed engines for some minutes', programs: [[script('soak-faults')]] },
  mutation: {
    about: 'breaks critical code in small ways and lists what no test notices',
    programs: [[withPnpm, 'turbo', 'run', 'mutation', '--concurrency=1']],
  },
  compose: { about: 'docker-compose.yml on a real engine', programs: [verify('compose')] },
  engines: { about: 'Docker engines of small machines, and Podman', programs: [verify('engines')] },
  swarm: { about: 'the Swarm stack', programs: [verify('swarm')] },
  kubernetes: { about: 'the Kubernetes manifests', programs: [verify('kubernetes')] },
  arm64: { about: 'that every dependency has a build for ARM64', programs: [verify('arm64')] },
  workflows: { about: 'the workflows of .github', programs: [verify('workflows')] },
};

await runCommandLine(async () => {
  const [name = '--help', ...args] = process.argv.slice(2);
  const list = Object.entries(proofs).map(([each, { about }]) => `  ${each.padEnd(10)}  ${about}`);
  const usage = `npm run proof -- NAME [ARGUMENTS]\n${list.join('\n')}`;
  if (name === '--help' || name === '-h') {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const proof = proofs[name];
  if (proof === undefined) throw new UserError(`There is no proof called ${name}.\n\n${usage}`);
  for (const [index, [file = '', ...own]] of proof.programs.entries()) {
    const given = index === proof.programs.length - 1 ? args : [];
    const { status, error } = spawnSync(process.execPath, [file, ...own, ...given], { stdio: 'inherit' });
    if (error) throw error;
    if (status !== 0) return status ?? 1;
  }
  return 0;
});
