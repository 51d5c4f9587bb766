/** npm run proof -- workflows: checks .github and what a release does. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '@media-services/stack/set-up';
import { parse } from 'yaml';
import { z } from 'zod';
import { Report } from './report.js';
import { run } from './run.js';
import { goTool, pythonTool } from './tools.js';

const folder = join(root, '.github', 'workflows');
const report = new Report();
const workflowSchema = z.object({
  defaults: z.object({ run: z.object({ shell: z.string() }) }),
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.string().optional(),
      steps: z
        .array(
          z.object({
            uses: z.string().optional(),
            run: z.string().optional(),
            with: z.record(z.string(), z.unknown()).optional(),
          }),
        )
        .optional(),
    }),
  ),
});

await report.check('actionlint finds nothing', async () => {
  await run(await goTool('github.com/rhysd/actionlint/cmd/actionlint', 'v1.7.7'), []);
});
await report.check('zizmor finds nothing', async () => {
  await run(await pythonTool('zizmor', '1.32.0'), ['--offline', '--quiet', '.github']);
});
await report.check('each workflow runs with pipefail and sets Node up without looking for pnpm', async () => {
  for (const file of await readdir(folder)) {
    const { defaults, jobs } = workflowSchema.parse(parse(await readFile(join(folder, file), 'utf8')));
    assert.equal(defaults.run.shell, 'bash', file);
    const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith('actions/setup-node@'))
        assert.equal(options?.['package-manager-cache'], false, file);
    }
  }
});
await report.check('a scan that finds something ends a release before anything is pushed', async () => {
  const work = await mkdtemp(join(tmpdir(), 'verify-workflows-'));
  try {
    const calls = join(work, 'calls');
    await writeFile(join(work, 'docker'), `#!/bin/sh\necho "docker $*" >>"${calls}"\n`, { mode: 0o755 });
    const scanner = join(work, 'scanner');
    await writeFile(scanner, `#!/bin/sh\necho scan >>"${calls}"; exit 1\n`, { mode: 0o755 });
    const env = {
      PATH: `${work}:${process.env.PATH ?? ''}`,
      OSV_SCANNER: scanner,
      IMAGE_PREFIX: 'registry.example.org/x',
      IMAGE_TAG: '1.2.3',
    };
    await assert.rejects(run('deploy/images', ['build', 'amd64'], { env }), /ended with 1/);
    const made = await readFile(calls, 'utf8');
    assert.match(made, /--output type=docker.*\nscan\n$/);
    assert.doesNotMatch(made, /--push/);
  } finally {
    await rm(work, { recursive: true });
  }
});
await report.check(
  'a release is tested, built, scanned, pushed, signed and announced, in this order',
  async () => {
    const { jobs } = workflowSchema.parse(parse(await readFile(join(folder, 'images.yml'), 'utf8')));
    assert.equal(jobs.push?.needs, 'test');
    assert.equal(jobs.join?.needs, 'push');
    const runs = (jobs.push.steps ?? []).map((step) => step.run ?? '');
    const build = runs.findIndex((line) => line.includes('deploy/images build'));
    const push = runs.findIndex((line) => line.includes('deploy/images push'));
    assert.ok(build >= 0 && push > build, runs.join('\n'));
    const last = (jobs.join.steps ?? []).slice(-2).map((step) => step.run ?? '');
    assert.match(last[0] ?? '', /cosign/);
    assert.match(last[1] ?? '', /gh release create/);
  },
);
await report.check('base images are in FROM lines that Dependabot reads, and get a digest', async () => {
  const work = await mkdtemp(join(tmpdir(), 'verify-pin-'));
  try {
    const digest = `sha256:${'a'.repeat(64)}`;
    // Like buildx, which prints a table for any other template of the digest.
    const script = `#!/bin/sh\ncase "$*" in *'{{json .Manifest.Digest}}'*) echo '"${digest}"' ;; *) echo Name: "$*" ;; esac\n`;
    await writeFile(join(work, 'docker'), script, { mode: 0o755 });
    const copied = [
      'deploy/images',
      'nginx/Dockerfile',
      'apps/video-dl/Dockerfile',
      'apps/bg-removal/Dockerfile',
    ];
    for (const path of copied) await cp(join(root, path), join(work, path), { recursive: true });
    const env = { PATH: `${work}:${process.env.PATH ?? ''}` };
    const once = await run(join(work, 'deploy/images'), ['pin'], { env, cwd: work });
    assert.equal(await run(join(work, 'deploy/images'), ['pin'], { env, cwd: work }), once, 'pins twice');
    const dockerfile = await readFile(join(work, 'nginx/Dockerfile'), 'utf8');
    assert.match(dockerfile, new RegExp(`^FROM nginxinc/nginx-unprivileged:\\S+@${digest} AS nginx$`, 'm'));
    assert.equal(once.match(/@sha256/g)?.length, 4);
  } finally {
    await rm(work, { recursive: true });
  }
});
await report.check('the compose file of a release pulls its images and never builds', async () => {
  const env = { IMAGE_PREFIX: 'ghcr.io/own/repo', IMAGE_TAG: '1.2.3' };
  const text = await run('deploy/images', ['compose'], { env });
  const schema = z.object({
    services: z.record(z.string(), z.object({ image: z.string(), build: z.unknown().optional() })),
  });
  const { services } = schema.parse(parse(text, { merge: true }));
  const original = schema.parse(
    parse(await readFile(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }),
  );
  assert.deepEqual(Object.keys(services), Object.keys(original.services));
  assert.equal(Object.values(original.services).filter(({ build }) => build !== undefined).length, 3);
  assert.equal(Object.values(services).filter(({ build }) => build !== undefined).length, 0);
  assert.equal(services['video-dl']?.image, '${IMAGE_PREFIX:-ghcr.io/own/repo}/video-dl:${IMAGE_TAG:-1.2.3}');
});
await report.check('the tag decides what images are called', async () => {
  const named = async (type: string, name: string) => {
    const env = { GITHUB_REPOSITORY: 'Own/Repo', GITHUB_REF_TYPE: type, GITHUB_REF_NAME: name };
    return (await run('deploy/images', ['names'], { env })).trim().split('\n');
  };
  const prefix = 'IMAGE_PREFIX=ghcr.io/own/repo';
  assert.deepEqual(await named('tag', 'v1.2.3'), [prefix, 'IMAGE_TAG=1.2.3', 'MORE_TAGS=1.2 latest']);
  assert.deepEqual(await named('tag', 'v1.3.0-rc.1'), [prefix, 'IMAGE_TAG=1.3.0-rc.1', 'MORE_TAGS=']);
  assert.deepEqual(await named('branch', 'main'), [prefix, 'IMAGE_TAG=nightly', 'MORE_TAGS=']);
});
report.end();
