import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brokenFile, file, problem, startServer } from './support/server.js';

const program = resolve(import.meta.dirname, '../bin/media-services.js');
const page = 'https://example.com/film';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-command-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((settle) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { cwd: folder, env: { ...process.env, ...env } },
      (_error, stdout, stderr) => settle({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test('video saves a whole file under the name that the service gives, and prints its path', async () => {
  await using server = await startServer(
    file('audio/mpeg', 'sound', { 'Content-Disposition': 'attachment; filename="Film.mp3"' }),
  );

  const outcome = await run(['video', page, '--mp3', '--output', 'music'], {
    MEDIA_SERVICES_URL: server.url,
  });

  expect(outcome).toMatchObject({ code: 0, stdout: `${join('music', 'Film.mp3')}\n` });
  expect(readFileSync(join(folder, 'music/Film.mp3'), 'utf8')).toBe('sound');
  expect(server.requests[0]?.url).toContain('/api/stream?url=');
});

test('a video that breaks off leaves no file and asks to try again', async () => {
  await using server = await startServer(brokenFile);

  const outcome = await run(['video', page, '--mp4', '1080', '--server', server.url]);

  expect(outcome.code).toBe(4);
  expect(outcome.stderr).toContain('stream_broken');
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['a refusal', problem(451, 'geo_blocked'), 3],
  ['a missing key', problem(401, 'unauthorized'), 3],
  [
    'a limit that lasts',
    problem(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '900' } }),
    4,
  ],
])('%s has an exit code of its own', async (_name, answer, code) => {
  await using server = await startServer(answer);
  const outcome = await run(['video', page, '--server', server.url]);
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr).toContain('id-1');
});

test.each([
  [['video'], 'one argument'],
  [['video', page, '--mp4', '480'], '720 or 1080'],
  [['video', page, '--mp3', '--mp4', '720'], 'exclude'],
  [['cutout', 'x', '--threshold', '300'], 'from 0 to 255'],
  [['cutout', 'x', '--threshold', 'some'], 'from 0 to 255'],
  [['paint', 'x'], 'no command paint'],
  [['video', page, '--server', 'somewhere'], '--server'],
  [['video', page, '--what'], '--what'],
  [['cutout', 'does-not-exist'], 'does-not-exist'],
])('%j is told to be wrong', async (args, words) => {
  const outcome = await run(args);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain(words);
});

test('cutout does a folder at the pace of the limit, and the rest when it is called again', async () => {
  for (const name of ['a.jpg', 'b.PNG', 'b.webp', 'notes.txt', 'c.jpeg'])
    writeFileSync(join(folder, name), name);
  const png = (remaining: number) =>
    file('image/png', 'cut', { RateLimit: `"images-per-minute"; r=${remaining}; t=1` });
  await using server = await startServer(
    png(1),
    png(0),
    problem(422, 'no_foreground'),
    problem(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '0' } }),
    png(3),
  );

  const first = await run(['cutout', '.', '--server', server.url]);

  expect(first.code).toBe(1);
  expect(first.stderr).toContain('waiting 1 s');
  expect(first.stderr).toContain('b.webp: detail of no_foreground');
  expect(readdirSync(join(folder, 'cutouts')).sort()).toEqual(['a.png', 'b.PNG.png', 'c.png']);

  const second = await run(['cutout', '.', '--server', server.url]);
  expect(second.code).toBe(0);
  expect(second.stdout).toBe(`${join('cutouts', 'b.webp.png')}\n`);
  expect(server.requests).toHaveLength(6);
});

test('cutout stops where the server itself does not take more', async () => {
  writeFileSync(join(folder, 'a.jpg'), 'a');
  await using server = await startServer(problem(401, 'unauthorized'));
  expect(await run(['cutout', '.', '--server', server.url])).toMatchObject({ code: 3, stdout: '' });
});
