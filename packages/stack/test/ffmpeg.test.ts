import { once } from 'node:events';
import { createReadStream, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';
import { checkFfmpeg } from '../src/doctor/doctor.mjs';
import { findExecutable } from '../src/set-up/executables.mjs';
import { root } from '../src/set-up/project.mjs';
import { runCommand } from '../src/set-up/run-command.mjs';
import { downloadFfmpeg } from '../src/set-up/ffmpeg.mjs';
import { scratch } from './support/scratch.js';

const systemFfmpeg = findExecutable('ffmpeg') ?? '';
const asked: string[] = [];
let mirror: Server;

/** A mirror of ffmpeg-static's releases that serves the system's ffmpeg. */
beforeAll(async () => {
  mirror = createServer((req, res) => {
    asked.push(req.url ?? '');
    if (req.url?.endsWith('.gz'))
      createReadStream(systemFfmpeg)
        .pipe(createGzip({ level: 1 }))
        .pipe(res);
    else res.end('text\n');
  });
  mirror.listen(0, '127.0.0.1');
  await once(mirror, 'listening');
});

afterAll(async () => {
  mirror.close();
  await once(mirror, 'close');
});

/** An environment with an empty PATH and a mirror on loopback. */
function bareEnvironment(release = 'b6.1.1'): NodeJS.ProcessEnv {
  const { port } = mirror.address() as AddressInfo;
  return {
    PATH: scratch(),
    HOME: scratch(),
    XDG_CACHE_HOME: scratch(),
    FFMPEG_BINARIES_URL: `http://127.0.0.1:${port}`,
    FFMPEG_BINARY_RELEASE: release,
  };
}

const log = () => undefined;

test.each([
  ['PATH', process.env],
  ['FFMPEG_PATH, with ffprobe next to it', { PATH: '', FFMPEG_PATH: systemFfmpeg }],
])('uses ffmpeg from %s', async (_where, env) => {
  await expect(checkFfmpeg(root, { env })).resolves.not.toMatchObject({ state: 'wrong' });
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
  await expect(checkFfmpeg(root, { env })).resolves.toMatchObject({
    state,
    found: expect.stringMatching(found) as string,
  });
});

test('without a system ffmpeg, gets ffmpeg from ffmpeg-static and ffprobe from a package', async () => {
  const folder = join(scratch(), 'ffmpeg');
  const env = bareEnvironment();
  await expect(checkFfmpeg(root, { env, folder })).resolves.toMatchObject({ state: 'wrong' });

  const fetched = await downloadFfmpeg({ root, log, env, folder });

  expect(fetched).toEqual({
    FFMPEG_PATH: join(folder, 'ffmpeg'),
    FFPROBE_PATH: join(folder, 'ffprobe'),
  });
  expect(asked).toContain(`/b6.1.1/ffmpeg-${process.platform}-${process.arch}.gz`);
  const media = join(folder, 'tone.mp3');
  const tone = ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', media];
  expect(await runCommand(fetched.FFMPEG_PATH, tone)).toMatchObject({ code: 0 });
  const ask = ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0', media];
  expect(await runCommand(fetched.FFPROBE_PATH, ask)).toMatchObject({ code: 0, output: 'mp3\n' });

  const before = asked.length;
  await expect(downloadFfmpeg({ root, log, env, folder })).resolves.toEqual(fetched);
  expect(asked).toHaveLength(before);
  await expect(checkFfmpeg(root, { env, folder })).resolves.toMatchObject({ state: 'ok' });
});

test('says what to do if the mirror is unreachable', async () => {
  const env = { ...bareEnvironment(), FFMPEG_BINARIES_URL: 'http://127.0.0.1:9' };

  const failing = downloadFfmpeg({ root, log, env, folder: join(scratch(), 'ffmpeg') });

  await expect(failing).rejects.toThrow(/ffmpeg is missing.*ECONNREFUSED.*FFMPEG_BINARIES_URL/s);
});
