import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkFfmpeg } from '../src/doctor/doctor.mjs';
import { findExecutable } from '../src/set-up/executables.mjs';
import { withStaticFfmpeg } from '../src/set-up/ffmpeg.mjs';
import { root } from '../src/set-up/project.mjs';
import { scratch } from './support/scratch.js';

const systemFfmpeg = findExecutable('ffmpeg') ?? '';

test.each([
  ['PATH', process.env],
  ['FFMPEG_PATH, with ffprobe next to it', { PATH: '', FFMPEG_PATH: systemFfmpeg }],
  ['the static builds, without any on PATH', withStaticFfmpeg(root, { PATH: '' })],
])('uses ffmpeg from %s', async (_where, env) => {
  await expect(checkFfmpeg(root, env)).resolves.not.toMatchObject({ state: 'wrong' });
});

test.each([
  ['9.0.2', 'ok', /^9\.0\.2$/],
  ['n9.0.2-17-g2a571b6068', 'ok', /^n9\.0\.2/],
  ['5.1.9-0+deb12u1', 'ok', /^5\.1\.9/],
  ['4.4.2-0ubuntu0.22.04.1', 'warning', /never tested/],
  ['N-119214-gd8a2b4e', 'warning', /never tested/],
])('npm run doctor says whether ffmpeg %s was tested', async (version, state, found) => {
  const folder = scratch();
  for (const name of ['ffmpeg', 'ffprobe'])
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\necho "${name} version ${version} Copyright"\nprintf ' A libmp3lame\\n V libx264\\n A aac\\n'\n`,
      { mode: 0o755 },
    );
  const env = { ...process.env, FFMPEG_PATH: join(folder, 'ffmpeg') };
  await expect(checkFfmpeg(root, env)).resolves.toMatchObject({
    state,
    found: expect.stringMatching(found) as string,
  });
});
