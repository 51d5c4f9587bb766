import { exec, execFile, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isNight } from '../../../proof/vitest/at-night.js';
import { startCommandLines, type Outcome } from './support/command-lines.js';
import { brokenFile, file, problem, rangedFile, startServer } from './support/server.js';
import { progressLine, timeText } from '../src/cli/terminal.js';

const program = resolve(import.meta.dirname, '../bin/media-services.js');
const page = 'https://example.com/film';

let folder: string;
const commandLines = startCommandLines();

afterAll(() => commandLines[Symbol.asyncDispose]());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-services command-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface RunOptions {
  readonly program?: string;
  readonly env?: Record<string, string>;
  /** Standard input; null leaves it open. */
  readonly input?: string | null;
  readonly onStart?: (child: ChildProcess) => void;
}

/** Starts the program as a user does. */
function start(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { env = {}, input, onStart } = options;
  return new Promise((settle) => {
    const child = execFile(
      process.execPath,
      [options.program ?? program, ...args],
      { cwd: folder, env: { ...process.env, ...env } },
      (_error, stdout, stderr) => settle({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    onStart?.(child);
    if (input !== null) child.stdin?.end(input);
  });
}

function startInTerminal(args: readonly string[]) {
  const spawnInTerminal = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
  return promisify(execFile)('python3', ['-c', spawnInTerminal, process.execPath, program, ...args], {
    cwd: folder,
    env: { ...process.env, TERM: 'xterm' },
  });
}

/** Runs a command line: in a shared process by day, in its own at night. */
function run(args: readonly string[], options: Pick<RunOptions, 'env'> = {}): Promise<Outcome> {
  return isNight ? start(args, options) : commandLines.run({ args, env: options.env ?? {}, folder });
}

function shell(command: string): Promise<Outcome> {
  return new Promise((settle) => {
    const child = exec(command, { cwd: folder }, (_error, stdout, stderr) =>
      settle({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');

async function partSaved(name: string, bytes: number): Promise<void> {
  while (!existsSync(join(folder, `${name}.part`)) || read(`${name}.part`).length < bytes)
    await new Promise((resume) => setImmediate(resume));
}

const named = (content: string, name = 'Episode 1.mp3') =>
  file('audio/mpeg', content, { 'Content-Disposition': `attachment; filename="${name}"` });

it('says how to build it where that has not happened', async () => {
  const copy = join(folder, 'bin', 'media-services.js');
  cpSync(program, copy);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const outcome = await start(['--help'], { program: copy });
  expect(outcome).toMatchObject({ code: 1, stdout: '' });
  expect(outcome.stderr).toBe('media-services is not built yet. Run `npm run setup` once, then try again.\n');
});

describe('video', () => {
  test('saves under the name the service suggests, and prints the path', async () => {
    await using server = await startServer(named('audio', 'Film.mp3'));
    const env = { MEDIA_SERVICES_URL: server.url };

    const outcome = await start(['video', page, '--mp3', '--output', 'my music'], { env });

    expect(outcome).toMatchObject({ code: 0, stdout: `${join('my music', 'Film.mp3')}\n` });
    expect(read('my music', 'Film.mp3')).toBe('audio');
    expect(server.requests[0]?.url).toContain('/api/stream?url=');
  });

  test("saves the site's original audio", async () => {
    const audio = (_request: unknown, response: ServerResponse) =>
      void response
        .writeHead(200, {
          'content-type': 'audio/ogg',
          'content-disposition': 'attachment; filename="Film.opus"',
        })
        .end('opus');
    await using server = await startServer(audio);
    const outcome = await run(['video', page, '--original', '--server', server.url]);
    expect(outcome).toMatchObject({ code: 0, stdout: 'Film.opus\n' });
    expect(server.requests[0]?.url).toContain('fmt=original');
  });

  test('numbers a second file of the same name, and replaces it with --force', async () => {
    await using server = await startServer(named('one'), named('two'), named('three'));
    const args = ['--mp3', '--jobs', '1', '--server', server.url];

    const first = await run(['video', page, `${page}2`, ...args]);
    expect(first.stdout).toBe('Episode 1.mp3\nEpisode 1 (2).mp3\n');
    await run(['video', page, '--force', ...args]);

    expect(read('Episode 1.mp3')).toBe('three');
    expect(read('Episode 1 (2).mp3')).toBe('two');
  });

  test('skips what an earlier run saved, so that an interrupted batch can be run again', async () => {
    await using server = await startServer(named('one'));
    await run(['video', page, '--mp3', '--server', server.url]);
    const again = await run(['video', page, '--mp3', '--server', server.url]);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('Episode 1.mp3 is there already: skipped. Use --force');
    expect(readdirSync(folder)).toEqual(['Episode 1.mp3']);
  });

  test.each([
    ['a file', ['-a', 'links.txt']],
    ['standard input', ['-a', '-']],
    ['standard input as -', ['-']],
  ])('takes links from %s, each once', async (_name, args) => {
    const links = `\ufeff# films\r\n${page}\r\n\r\n  ${page}2  \n${page}\n`;
    writeFileSync(join(folder, 'links.txt'), links);
    await using server = await startServer(named('film'));
    const outcome = await start(['video', ...args, '--mp3', '--jobs', '1', '--server', server.url], {
      input: links,
    });
    expect(outcome).toMatchObject({ code: 0, stdout: 'Episode 1.mp3\nEpisode 1 (2).mp3\n' });
    expect(server.requests.map(({ url }) => new URL(url ?? '', server.url).searchParams.get('url'))).toEqual([
      page,
      `${page}2`,
    ]);
  });

  test('saves several at once, as many as the server allows', async () => {
    let running = 0;
    let most = 0;
    await using server = await startServer((req, res) => {
      if (req.url === '/api/health') {
        res.writeHead(200, { 'Content-Type': 'application/json' });
        res.end(
          JSON.stringify({ status: 'ok', limits: { streamsPerClient: 2 }, features: {}, services: {} }),
        );
        return;
      }
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        named('film')(req, res);
      }, 100);
    });
    const links = ['1', '2', '3', '4'].map((number) => page + number);
    const { code, stdout } = await run(['video', ...links, '--mp3', '--server', server.url]);
    expect({ code, files: stdout.trim().split('\n').length, most }).toEqual({ code: 0, files: 4, most: 2 });
  });

  test('takes all videos of a page, or those of --items', async () => {
    const info = { title: 'Season', downloads: [], items: [{ index: 1 }, { index: 2 }, { index: 3 }] };
    await using server = await startServer((req, res) => {
      if (req.url?.startsWith('/api/info') === true)
        res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(info));
      else named('film')(req, res);
    });
    const itemsAsked = async (items: string) => {
      const before = server.requests.length;
      await run(['video', page, '--items', items, '--mp3', '--force', '--jobs', '1', '--server', server.url]);
      return server.requests
        .slice(before)
        .map(({ url }) => new URL(url ?? '', server.url).searchParams.get('item'));
    };
    expect(await itemsAsked('all')).toEqual([null, '1', '2', '3']);
    expect(await itemsAsked('1,3-4')).toEqual(['1', '3', '4']);
  });

  test('prints one line of JSON for each result with --json', async () => {
    await using server = await startServer(named('film'), problem(451, 'geo_blocked'));
    const args = ['--json', '--jobs', '1', '--mp3', '--server', server.url];
    const { code, stdout } = await run([...args, 'video', page, `${page}2`]);
    expect(code).toBe(3);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toEqual([
      { source: page, status: 'saved', file: 'Episode 1.mp3' },
      {
        source: `${page}2`,
        status: 'failed',
        code: 'geo_blocked',
        message: expect.stringContaining('geo') as string,
      },
    ]);
  });

  test('says what to do about a certificate that is not trusted', async () => {
    const key = join(folder, 'key.pem');
    const certificate = join(folder, 'cert.pem');
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', key, '-out', certificate];
    await promisify(execFile)('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      ...files,
      ...subject,
    ]);
    const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, named('film'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const outcome = await start(['video', page, '--mp3', '--server', url]);
      expect(outcome.code).toBe(4);
      expect(outcome.stderr).toContain('set NODE_EXTRA_CA_CERTS to the path of that file');
      const env = { NODE_EXTRA_CA_CERTS: certificate };
      expect(await start(['video', page, '--mp3', '--server', url], { env })).toMatchObject({ code: 0 });
    } finally {
      server.close();
    }
  });

  test('writes to a named file or standard output, and never replaces an existing file', async () => {
    await using server = await startServer(named('audio'));
    const args = ['video', page, '--mp3', '--server', server.url];

    expect(await start([...args, '-o', '-'])).toMatchObject({ code: 0, stdout: 'audio' });
    expect(await run([...args, '-o', 'a.mp3'])).toMatchObject({ code: 0, stdout: 'a.mp3\n' });
    const again = await start([...args, '-o', 'a.mp3']);

    expect(again.code).toBe(2);
    expect(again.stderr).toContain('a.mp3 already exists. Use --force');
    expect(readdirSync(folder)).toEqual(['a.mp3']);
  });

  test.each([
    ['film.mp3', 'fmt', null],
    ['film.mp4', 'fmt', 'mp4-720'],
    ['Season 1.5', 'fmt', 'mp4-720'],
  ])('takes the format from the output file’s name: %s', async (output, name, value) => {
    await using server = await startServer(named('audio', 'Film.mp4'));
    const outcome = await run(['video', page, '-o', output, '--server', server.url]);
    const isFolder = output === 'Season 1.5';
    expect(outcome.stdout).toBe(isFolder ? `${join(output, 'Film.mp4')}\n` : `${output}\n`);
    expect(new URL(server.requests[0]?.url ?? '', 'http://x').searchParams.get(name)).toBe(value);
  });

  test('saves original audio only under a name of its type', async () => {
    await using server = await startServer(named('opus', 'Film.opus'));
    const args = ['video', page, '--original', '--server', server.url, '-o'];
    const outcome = await run([...args, 'film.flac']);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('Choose a name that ends in .opus');
    expect(await run([...args, 'film.opus'])).toMatchObject({ code: 0, stdout: 'film.opus\n' });
  });

  test('cuts a long name between characters and before its extension', async () => {
    const title = `-${'👩‍👩‍👧'.repeat(50)}.mp3`;
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(title)}`;
    await using server = await startServer(file('audio/mpeg', 'a', { 'Content-Disposition': disposition }));
    const { stdout } = await run(['video', page, '--mp3', '--server', server.url]);
    expect(stdout).toMatch(/^_(?:👩‍👩‍👧){11}\.mp3\n$/u);
  });

  test('says what to do when a file cannot be written', async () => {
    writeFileSync(join(folder, 'films'), 'a file');
    await using server = await startServer(named('audio'));
    const args = ['video', page, '--mp3', '--server', server.url, '-o'];
    const outcome = await run([...args, 'films']);
    expect(outcome).toMatchObject({ code: 5, stdout: '' });
    expect(outcome.stderr).toContain('It is a file, not a folder. Choose another one (-o).');
    const tooLong = await run([...args, `${'x'.repeat(300)}.mp3`]);
    expect(tooLong.code).toBe(5);
    expect(tooLong.stderr).toContain('Choose a shorter name (-o).');
  });

  test('creates missing folders, and says so when it cannot, even below /proc', async () => {
    await using server = await startServer(named('audio'));
    const args = ['video', page, '--mp3', '--server', server.url, '-o'];
    await expect(run([...args, 'new/films/'])).resolves.toMatchObject({ code: 0 });
    expect(read('new', 'films', 'Episode 1.mp3')).toBe('audio');
    const outcome = await run([...args, '/proc/films/new/']);
    expect(outcome).toMatchObject({ code: 5, stdout: '' });
    expect(outcome.stderr).toContain('/proc/films');
  });

  test('requests a clip with --start and --end', async () => {
    await using server = await startServer(named('clip'));

    await run(['video', page, '--start', '1:30', '--end', '95.5', '--server', server.url]);

    const { searchParams } = new URL(server.requests[0]?.url ?? '', 'http://x');
    expect(Object.fromEntries(searchParams)).toMatchObject({ start: '1:30', end: '95.5' });
  });

  test('requests a chapter, a language and subtitles with --chapter, --lang and --subtitles', async () => {
    await using server = await startServer(named('chapter'));

    await run([
      'video',
      page,
      '--chapter',
      '3',
      '--lang',
      'pt-BR',
      '--subtitles',
      'de,en',
      '--server',
      server.url,
    ]);

    const { searchParams } = new URL(server.requests[0]?.url ?? '', 'http://x');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      chapter: '3',
      lang: 'pt-BR',
      subtitles: 'de,en',
    });
  });

  test('leaves no file when a connection breaks that cannot be resumed', async () => {
    await using server = await startServer(brokenFile);

    const outcome = await run(['video', page, '--1080', '--server', server.url]);

    expect(outcome.code).toBe(4);
    expect(outcome.stderr).toContain('stream_broken');
    expect(server.requests[0]?.url).toContain('fmt=mp4-1080');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('resumes after an interruption', async () => {
    await using server = await startServer(
      rangedFile('0123456789', { stallAfter: 4 }),
      rangedFile('0123456789'),
    );
    const args = ['video', page, '--mp3', '--server', server.url];
    const interrupted = await start(args, {
      onStart: (child) => void partSaved('Film.mp3', 4).then(() => child.kill('SIGINT')),
    });
    expect(interrupted).toMatchObject({
      code: 130,
      stderr: 'Kept Film.mp3.part: the same command resumes it.\nInterrupted.\n',
    });
    expect(readdirSync(folder)).toEqual(['Film.mp3.part', 'Film.mp3.part.json']);

    const resumed = await run(args);
    expect(resumed).toMatchObject({ code: 0, stdout: 'Film.mp3\n' });
    expect(server.requests[1]?.headers).toMatchObject({ range: 'bytes=4-', 'if-range': '"v1"' });
    expect(readdirSync(folder)).toEqual(['Film.mp3']);
    expect(read('Film.mp3')).toBe('0123456789');
  });

  test('downloads again beside another command that downloads the same now', async () => {
    await using server = await startServer(
      rangedFile('0123456789', { stallAfter: 4 }),
      rangedFile('0123456789'),
    );
    const args = ['video', page, '--mp3', '--server', server.url];
    const children: ChildProcess[] = [];
    const other = start(args, { onStart: (child) => void children.push(child) });
    await partSaved('Film.mp3', 4);

    expect(await run(args)).toMatchObject({ code: 0, stdout: 'Film.mp3\n', stderr: '' });

    expect(read('Film.mp3')).toBe('0123456789');
    expect(read('Film.mp3.part')).toBe('0123');
    children[0]?.kill('SIGINT');
    expect((await other).code).toBe(130);
  });

  test('keeps nothing of a file that another program changed meanwhile', async () => {
    const responses: ServerResponse[] = [];
    await using server = await startServer((_req, res) => {
      responses.push(res.writeHead(200, { 'Content-Type': 'audio/mpeg' }));
      res.write('half');
    });
    const outcome = run(['video', page, '--mp3', '--server', server.url]);
    await partSaved('audio.mp3', 4);
    rmSync(join(folder, 'audio.mp3.part'));
    responses[0]?.end('rest');
    expect(await outcome).toMatchObject({ code: 4, stdout: '' });
    expect((await outcome).stderr).toContain('Another program changed audio.mp3.part.');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('leaves no .part file when its name is taken meanwhile', async () => {
    await using server = await startServer((req, res) => {
      writeFileSync(join(folder, 'film.mp3'), 'other');
      named('audio')(req, res);
    });
    symlinkSync('nowhere', join(folder, 'link.mp3'));
    for (const name of ['film.mp3', 'link.mp3']) {
      const outcome = await run(['video', page, '-o', name, '--server', server.url]);
      expect(outcome).toMatchObject({ code: 2, stdout: '' });
      expect(outcome.stderr).toContain(`${name} already exists.`);
    }
    expect(readdirSync(folder)).toEqual(['film.mp3', 'link.mp3']);
  });

  test('does not wait for the rest of a file that it cannot write', async () => {
    await using server = await startServer((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg' }).write('half');
    });
    writeFileSync(join(folder, 'films'), 'a file');
    expect(await start(['video', page, '--mp3', '--server', server.url, '-o', 'films'])).toMatchObject({
      code: 5,
    });
  });

  test('leaves no file when its terminal closes', async () => {
    await using server = await startServer((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg' }).write('half');
    });
    const outcome = await start(['video', page, '--mp3', '--server', server.url], {
      onStart: (child) => void partSaved('audio.mp3', 4).then(() => child.kill('SIGHUP')),
    });
    expect(outcome.code).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('continues when nobody reads its messages', async () => {
    const busy = problem(503, 'overloaded', { retryable: true, headers: { 'Retry-After': '0' } });
    await using server = await startServer(busy, named('audio'));
    const outcome = await start(['video', page, '--mp3', '--server', server.url], {
      onStart: (child) => child.stderr?.destroy(),
    });
    expect(outcome).toMatchObject({ code: 0, stdout: 'Episode 1.mp3\n' });
  });

  test('starts over when the file has changed since the interruption', async () => {
    writeFileSync(join(folder, 'Film.mp3.part'), 'old');
    const request = JSON.stringify({ url: page, format: 'mp3', name: null });
    writeFileSync(join(folder, 'Film.mp3.part.json'), JSON.stringify({ request, etag: '"v0"' }));
    await using server = await startServer(rangedFile('0123456789'));

    expect(await run(['video', page, '--mp3', '--server', server.url])).toMatchObject({ code: 0 });

    expect(readdirSync(folder)).toEqual(['Film.mp3']);
    expect(read('Film.mp3')).toBe('0123456789');
  });

  test('does not save a page of another server as a video', async () => {
    await using server = await startServer(file('text/html', '<h1>Log in</h1>'));
    const outcome = await run(['video', page, '--server', server.url]);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toContain('Check that the URL is a media-services gateway');
    expect(await run(['info', page, '--server', server.url])).toMatchObject({ code: 3, stdout: '' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('shows progress on a terminal, but not with --quiet, and no binary file', async () => {
    await using server = await startServer(rangedFile('0123456789'));
    const inTerminal = (...more: string[]) =>
      startInTerminal(['video', page, '--mp3', '--force', '--server', server.url, ...more]);
    expect((await inTerminal()).stdout).toMatch(/100 %.*\[#{20}\].*Film\.mp3\r\n$/s);
    expect((await inTerminal('--quiet')).stdout).toBe('Film.mp3\r\n');
    await expect(inTerminal('-o', '-')).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringContaining('Use -o FILE, or redirect the output') as string,
    });
  });

  test('saves the other videos when one fails', async () => {
    await using server = await startServer(problem(451, 'geo_blocked'), named('audio'));

    const outcome = await run(['video', page, `${page}2`, '--mp3', '--jobs', '1', '--server', server.url]);

    expect(outcome).toMatchObject({ code: 3, stdout: 'Episode 1.mp3\n' });
    expect(outcome.stderr).toContain(`${page}: detail of geo_blocked`);
  });

  test.each([
    ['a rejection', problem(451, 'geo_blocked'), 3],
    ['a missing key', problem(401, 'unauthorized'), 3],
    [
      'a long rate limit',
      problem(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '900' } }),
      4,
    ],
  ])('exits with a code for %s', async (_name, response, code) => {
    await using server = await startServer(response);
    const outcome = await run(['video', page, '--server', server.url]);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain('id-1');
  });
});

describe('info', () => {
  const info = {
    title: 'A film',
    uploader: 'Someone',
    duration: 62,
    uploadDate: null,
    downloads: [{ target: 'mp3', estimatedBytes: 1_500_000 }],
    originalAudio: { container: 'opus', estimatedBytes: null },
    audioLanguages: [],
    chapters: [],
    subtitles: [],
    items: [],
  };

  test('prints a summary, or JSON', async () => {
    await using server = await startServer(file('application/json', JSON.stringify(info)));

    const summary = await run(['info', page, '--server', server.url]);
    expect(summary.stdout).toBe(
      'A film\nSomeone, 1:02\n  mp3       about 1.5 MB\n  original  size unknown (opus)\n',
    );
    const json = await run(['info', page, '--json', '--server', server.url]);
    expect(JSON.parse(json.stdout)).toEqual(info);
  });

  test('says why it waits', async () => {
    const busy = problem(503, 'overloaded', { retryable: true, headers: { 'Retry-After': '0' } });
    await using server = await startServer(busy, file('application/json', JSON.stringify(info)));
    const { stderr } = await run(['info', page, '--server', server.url]);
    expect(stderr).toBe('detail of overloaded Retrying in 0 s.\n');
  });

  test('prints no control characters of a page, which a terminal would obey', async () => {
    const title = 'A \u001b[31mred\u0007 film';
    await using server = await startServer(file('application/json', JSON.stringify({ ...info, title })));
    const { stdout } = await run(['info', page, '--server', server.url]);
    expect(stdout).toMatch(/^A \[31mred film\n/);
  });

  test('names the options that the service rejects', async () => {
    const errors = [{ field: 'end', message: 'must be after start' }];
    await using server = await startServer(problem(400, 'invalid_request', { errors }));
    const outcome = await run(['info', page, '--start', '5', '--end', '2', '--server', server.url]);
    expect(outcome.code).toBe(3);
    expect(outcome.stderr).toBe('--end must be after start. (invalid_request, request id-1)\n');
  });

  test('lists languages, subtitles and chapters', async () => {
    const audioLanguages = [
      { language: 'de', label: 'German', isOriginal: false, isDescription: false },
      { language: 'en', label: 'English', isOriginal: true, isDescription: false },
    ];
    const chapters = [{ title: 'Intro', start: 62, end: 90 }];
    const subtitles = [{ language: 'fr', label: 'French', isAutomatic: true }];
    const body = JSON.stringify({ ...info, audioLanguages, chapters, subtitles });
    await using server = await startServer(file('application/json', body));
    const { stdout } = await run(['info', page, '--server', server.url]);
    expect(stdout).toContain(
      '  --lang de  German\n  --lang en  English, original\n  --subtitles fr  French, automatic\n  --chapter 1  1:02 Intro\n',
    );
  });

  test('lists the videos of a page, and requests the one selected with --item', async () => {
    const items = [
      { index: 1, title: 'First', duration: 62, thumbnail: null },
      { index: 2, title: null, duration: null, thumbnail: null },
    ];
    await using server = await startServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x');
      const body = JSON.stringify({ ...info, title: `item ${searchParams.get('item')}`, items });
      file('application/json', body)(request, response);
    });

    const { stdout } = await run(['info', page, '--item', '2', '--server', server.url]);
    expect(stdout).toContain('item 2\n');
    expect(stdout).toContain('  --item 1  First (1:02)\n  --item 2  untitled\n');
  });
});

describe('cutout', () => {
  test('takes the images of subfolders with --recursive, and keeps the folders', async () => {
    mkdirSync(join(folder, 'photos/2024/.thumbs'), { recursive: true });
    for (const name of ['photos/a.jpg', 'photos/2024/b.jpg', 'photos/2024/.thumbs/c.jpg'])
      writeFileSync(join(folder, name), name);
    await using server = await startServer(png());
    const args = ['cutout', 'photos', '--recursive', '--server', server.url];
    const results = [join('photos', 'cutouts', 'a.png'), join('photos', 'cutouts', '2024', 'b.png')];
    expect((await run(args)).stdout.trim().split('\n')).toEqual(results);
    // The results are not images to cut out.
    expect(await run(args)).toMatchObject({ code: 0, stdout: '' });
    expect(server.requests).toHaveLength(2);
  });

  const png = (remaining = 9, content = 'cut') =>
    file('image/png', content, { RateLimit: `"images-per-minute"; r=${remaining}; t=1` });

  test('writes the cut-out next to the image, without replacing anything', async () => {
    mkdirSync(join(folder, 'photos'));
    writeFileSync(join(folder, 'photos/a.jpg'), 'a');
    await using server = await startServer(png(9, 'one'), png(9, 'two'));

    const args = ['cutout', join('photos', 'a.jpg'), '--server', server.url];
    expect((await run(args)).stdout).toBe(`${join('photos', 'a-cutout.png')}\n`);
    expect((await run(args)).stdout).toBe(`${join('photos', 'a-cutout (2).png')}\n`);

    expect(read('photos', 'a.jpg')).toBe('a');
    expect(read('photos', 'a-cutout.png')).toBe('one');
  });

  test('accepts files, folders and standard input', async () => {
    mkdirSync(join(folder, 'more'));
    for (const name of ['a.jpg', 'b.png', 'more/c.webp']) writeFileSync(join(folder, name), name);
    await using server = await startServer(png());
    const args = ['a.jpg', 'b.png', 'more', '--output', 'results', '--server', server.url];

    expect(await run(['cutout', ...args])).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, 'results'))).toEqual(['a-cutout.png', 'b-cutout.png', 'c.png']);

    const piped = await start(['cutout', '-', '--server', server.url], { input: 'jpeg' });
    expect(piped).toMatchObject({ code: 0, stdout: 'cut' });
    const toFile = await start(['cutout', '-', '-o', 'x.png', '--server', server.url], { input: 'jpeg' });
    expect(toFile).toMatchObject({ code: 0, stdout: 'x.png\n' });
  });

  test('processes a folder within the rate limit, and the rest when run again', async () => {
    for (const name of ['a.jpg', 'b.PNG', 'b.webp', 'notes.txt', 'c.jpeg'])
      writeFileSync(join(folder, name), name);
    await using server = await startServer(
      png(1),
      png(0),
      problem(422, 'no_foreground'),
      problem(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '0' } }),
      png(3),
    );

    const first = await run(['cutout', '.', '--server', server.url]);

    expect(first.code).toBe(3);
    expect(first.stderr).toContain('Waiting 1 s');
    expect(first.stderr).toContain('b.webp: detail of no_foreground');
    expect(readdirSync(join(folder, 'cutouts')).sort()).toEqual(['a.png', 'b.PNG.png', 'c.png']);

    const second = await run(['cutout', '.', '--server', server.url]);
    expect(second.code).toBe(0);
    expect(second.stdout).toBe(`${join('cutouts', 'b.webp.png')}\n`);
    expect(second.stderr).toContain('Skipped 3 that exist in cutouts. Use --force');
    expect(server.requests).toHaveLength(6);

    const forced = await run(['cutout', '.', '--force', '--server', server.url]);
    expect(forced.code).toBe(0);
    expect(server.requests).toHaveLength(10);
  });

  test('continues when another command has made a cut-out of the folder meanwhile', async () => {
    for (const name of ['a.jpg', 'b.jpg', 'c.jpg']) writeFileSync(join(folder, name), name);
    await using server = await startServer((req, res) => {
      mkdirSync(join(folder, 'cutouts'), { recursive: true });
      for (const name of ['a.png', 'b.png']) writeFileSync(join(folder, 'cutouts', name), 'other');
      png()(req, res);
    });
    const outcome = await run(['cutout', '.', '--server', server.url]);
    expect(outcome).toMatchObject({ code: 0, stdout: `${join('cutouts', 'c.png')}\n` });
    expect(outcome.stderr).toContain('b.jpg: Skipped, because another command has made its cut-out.');
    expect(server.requests).toHaveLength(2);
  });

  test('stops when the server rejects an option', async () => {
    for (const name of ['a.jpg', 'b.jpg']) writeFileSync(join(folder, name), name);
    const errors = [{ field: 'bg_color', message: 'must be a colour' }];
    await using server = await startServer(problem(400, 'invalid_request', { errors }));
    const outcome = await run(['cutout', '.', '--background', 'noir', '--server', server.url]);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toContain('--background must be a colour.');
    expect(server.requests).toHaveLength(1);
  });

  test('sends the same image again after it has changed', async () => {
    writeFileSync(join(folder, 'a.jpg'), 'first');
    const sent: string[] = [];
    const busy = problem(503, 'overloaded', { retryable: true, headers: { 'Retry-After': '0' } });
    await using server = await startServer((req, res) => {
      req.setEncoding('latin1').on('data', (chunk: string) => sent.push(chunk));
      req.on('end', () => {
        writeFileSync(join(folder, 'a.jpg'), 'changed');
        (server.requests.length === 1 ? busy : png())(req, res);
      });
    });
    expect(await run(['cutout', 'a.jpg', '--server', server.url])).toMatchObject({ code: 0 });
    expect(sent.join('').match(/first|changed/g)).toEqual(['first', 'first']);
  });

  test('says that the path of an image is wrong', async () => {
    writeFileSync(join(folder, 'a.jpg'), 'a');
    const outcome = await run(['cutout', join('a.jpg', 'b.jpg')]);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(/^a\.jpg.b\.jpg does not exist\./);
  });

  test('sends nothing if two images would become the same file, or an existing one', async () => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'IMG_1.jpg'), name);
    }
    await using server = await startServer(png());
    const args = ['--server', server.url, '-o'];
    const outcome = await run(['cutout', 'a', 'b', ...args, 'out']);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(
      `${join('a', 'IMG_1.jpg')} and ${join('b', 'IMG_1.jpg')} would both become ${join('out', 'IMG_1.png')}.`,
    );
    writeFileSync(join(folder, 'c.png'), 'c');
    expect((await run(['cutout', 'c.png', ...args, 'c.png'])).stderr).toContain('c.png already exists.');
    writeFileSync(join(folder, 'c.mp4'), 'c');
    expect((await run(['video', page, ...args, 'c.mp4'])).stderr).toContain('c.mp4 already exists.');
    expect(server.requests).toEqual([]);
  });

  test('continues after a file that cannot be read, names it even with --quiet, and skips hidden files', async () => {
    for (const name of ['-a.jpg', '._-a.jpg', 'c.jpg']) writeFileSync(join(folder, name), name);
    mkdirSync(join(folder, 'b.jpg'));
    symlinkSync('nowhere', join(folder, 'd.jpg'));
    await using server = await startServer(png());

    const outcome = await run(['cutout', '.', '--quiet', '--server', server.url]);

    expect(outcome.code).toBe(3);
    expect(outcome.stderr).toMatch(/^b\.jpg: .*\nd\.jpg: .*\n$/);
    expect(readdirSync(join(folder, 'cutouts'))).toEqual(['-a.png', 'c.png']);
  });

  test('takes the format from the name of the output file', async () => {
    writeFileSync(join(folder, 'a.png'), 'a');
    const sent: string[] = [];
    await using server = await startServer((req, res) => {
      req.setEncoding('latin1').on('data', (chunk: string) => sent.push(chunk));
      req.on('end', () => png()(req, res));
    });
    const args = ['cutout', 'a.png', '-o', 'out.JPEG', '--server', server.url];

    expect(await run(args)).toMatchObject({ code: 0, stdout: 'out.JPEG\n' });
    expect(sent.join('')).toContain('name="format"\r\n\r\njpg\r\n');
    expect((await run([...args, '--format', 'png'])).stderr).toContain(
      'out.JPEG is not a name for --format png',
    );
    expect((await run(['cutout', 'a.png', '-o', 'out.gif'])).stderr).toContain(
      'out.gif is not a name for png, webp or jpg. To make a folder of that name, end it with a slash.',
    );
  });

  test('prints no control characters of a file name on a terminal', async () => {
    writeFileSync(join(folder, 'a\u001b[31m.jpg'), 'a');
    await using server = await startServer(png());
    const args = ['cutout', '.', '--server', server.url];
    expect((await startInTerminal([...args, '--quiet'])).stdout).toBe(`${join('cutouts', 'a[31m.png')}\r\n`);
    expect((await run([...args, '--force'])).stdout).toBe(`${join('cutouts', 'a\u001b[31m.png')}\n`);
  });

  test('sends a URL instead of a file', async () => {
    const sent: string[] = [];
    await using server = await startServer((req, res) => {
      req.setEncoding('latin1').on('data', (chunk: string) => sent.push(chunk));
      req.on('end', () => png()(req, res));
    });

    const url = 'https://example.org/photos/cat.jpg?size=large';
    const outcome = await run(['cutout', '--url', url, '--server', server.url]);

    expect(outcome).toMatchObject({ code: 0, stdout: 'cat-cutout.png\n' });
    expect(sent.join('')).toContain(`name="image_url"\r\n\r\n${url}\r\n`);
    expect(sent.join('')).not.toContain('name="file"');
    expect(await run(['cutout', '--url', 'cat.jpg', '--server', server.url])).toMatchObject({ code: 2 });
  });

  test('requests another format, a crop and a background, and names the file accordingly', async () => {
    writeFileSync(join(folder, 'a.jpg'), 'a');
    const sent: string[] = [];
    await using server = await startServer((req, res) => {
      req.setEncoding('latin1').on('data', (chunk: string) => sent.push(chunk));
      req.on('end', () => png(9, 'jpeg')(req, res));
    });
    const options = ['--format', 'jpg', '--background', 'navy', '--crop', '--crop-margin', '5%'];

    const outcome = await run(['cutout', 'a.jpg', ...options, '--max-width', '640', '--server', server.url]);

    expect(outcome).toMatchObject({ code: 0, stdout: 'a-cutout.jpg\n' });
    const form = sent.join('');
    for (const [field, value] of [
      ['format', 'jpg'],
      ['bg_color', 'navy'],
      ['crop', 'true'],
      ['crop_margin', '5%'],
      ['max_width', '640'],
    ]) {
      expect(form).toContain(`name="${field}"\r\n\r\n${value}\r\n`);
    }
    expect(form).not.toContain('threshold');
  });

  test('says that an image is empty, instead of sending it', async () => {
    writeFileSync(join(folder, 'a.jpg'), '');
    await using server = await startServer(png());
    const outcome = await run(['cutout', 'a.jpg', '--server', server.url]);
    expect(outcome).toMatchObject({ code: 3, stderr: 'a.jpg: The file is empty.\n' });
    const piped = await start(['cutout', '-', '--server', server.url], { input: '' });
    expect(piped).toMatchObject({ code: 3, stderr: 'image: Standard input is empty.\n' });
    expect(server.requests).toEqual([]);
  });

  test('ends on Ctrl-C while it waits for standard input', async () => {
    const outcome = await start(['cutout', '-'], {
      input: null,
      // More than a pipe holds, so that the program must be reading.
      onStart: (child) => child.stdin?.write(Buffer.alloc(1_000_000), () => child.kill('SIGINT')),
    });
    expect(outcome).toMatchObject({ code: 130, stderr: 'Interrupted.\n' });
  });

  test('shortens the name of a cut-out that a file system would reject', async () => {
    const name = `${'x'.repeat(250)}.jpg`;
    writeFileSync(join(folder, name), 'a');
    await using server = await startServer(png());
    const { stdout } = await run(['cutout', name, '--server', server.url]);
    expect(stdout).toMatch(/^x{209}-cutout\.png\n$/);
  });

  test('stops when the server rejects the client itself', async () => {
    writeFileSync(join(folder, 'a.jpg'), 'a');
    await using server = await startServer(problem(401, 'unauthorized'));
    expect(await run(['cutout', '.', '--server', server.url])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('Set it with --key or MEDIA_SERVICES_KEY.') as string,
    });
  });
});

test.each([
  [['video'], 'needs a URL'],
  [['video', page, '--mp3', '--720'], 'Choose one'],
  [['video', page, '--threshold', '3'], 'Unknown option: --threshold.\nRun'],
  [['cutout', 'x', '--mp3'], '--mp3'],
  [['cutout', 'x', '--threshold', '300'], 'from 0 to 255'],
  [['cutout', 'x', '--threshold', ''], 'from 0 to 255'],
  [['cutout', 'x', '--format', 'gif'], '--format'],
  [['cutout', 'x', '--mask', '--format', 'jpg'], 'always a PNG'],
  [['cutout', 'x', '--mask', '--background', 'red'], '--mask has no --background'],
  [['cutout', 'x', '--crop-margin', 'much'], '--crop-margin'],
  [['paint', 'x'], 'Unknown command: paint'],
  [['--server', 'http://127.0.0.1'], 'The command is missing'],
  [['video', page, '--item', '1', '--items', 'all'], 'Choose one of --item and --items'],
  [['video', page, '--items', 'some'], '--items must be all'],
  [['sign', page], 'needs an access key'],
  [['completion', 'tcsh'], 'bash, zsh or fish'],
  [['video', page, '--server', 'somewhere'], 'Set it with --server or MEDIA_SERVICES_URL.\nRun'],
  [['info', page, page], 'one URL'],
  [['video', page, '--item', '0'], '--item'],
  [['video', page, '--subtitles', 'de', '--mp3'], '--subtitles needs a video'],
  [['video', page, '--chapter', 'x'], '--chapter must be'],
  [['video', page, '--chapter', '1', '--start', '2'], 'Choose one of --chapter'],
  [['video', page, '--item', '1001'], 'from 1 to 1000'],
  [['video', page, '--start', 'noon'], '--start'],
  [['cutout', 'does-not-exist.jpg'], 'does-not-exist.jpg'],
  [['cutout', '-photo.jpg'], 'Unknown option: -photo.jpg. For a file of that name, write ./-photo.jpg'],
  [['cutout', 'a.jpg', 'b.jpg', '-o', 'c.png'], 'End its name with a slash: c.png/'],
  [['cutout', '.', '-o', '-'], 'one image, not a folder'],
  [['video', page, `${page}2`, '-o', 'film.mp4'], 'End its name with a slash: film.mp4/'],
  [['video', page, `${page}2`, '-o', '-'], 'takes one result'],
  [['video', page, '-o', 'film.mkv'], 'film.mkv is not a name for an MP4. Use .mp4, or .mp3 for the audio.'],
  [['video', page, '--mp3', '-o', 'film.mp4'], 'film.mp4 is not a name for an MP3. Use .mp3.'],
  [['video', page, '--1080', '-o', 'film.mp3'], 'film.mp3 is not a name for an MP4. Use .mp4.'],
  [['video', page, '--server', 'http://me:secret@127.0.0.1'], 'Set it with --server or MEDIA_SERVICES_URL'],
  [['video', page, '--key', 'schlüssel☃'], 'Set it with --key or MEDIA_SERVICES_KEY'],
])('rejects %j', async (args, words) => {
  const outcome = await run(args);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain(words);
});

test('prints a link that plays without the key', async () => {
  const args = ['sign', page, '--mp3', '--hours', '2', '--key', 'secret', '--server', 'http://media.lan/x'];
  const { code, stdout } = await run(args);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^http:\/\/media\.lan\/x\/api\/stream\?url=https%3A%2F%2Fexample\.com%2Ffilm&expires=\d+&signature=[0-9a-f]{16}\.[0-9a-f]{64}\n$/,
  );
  expect(stdout).not.toContain('secret');
});

test('completes commands and options in bash', async () => {
  const script = join(folder, 'completion.bash');
  writeFileSync(script, (await run(['completion', 'bash'])).stdout);
  const completed = async (words: readonly string[]) => {
    const line = `. ${JSON.stringify(script)}; COMP_WORDS=(${words.map((word) => JSON.stringify(word)).join(' ')}); COMP_CWORD=${words.length - 1}; _media_services; echo "\${COMPREPLY[@]}"`;
    return (await promisify(execFile)('bash', ['-c', line])).stdout.trim().split(' ');
  };
  expect(await completed(['media-services', 'c'])).toEqual(['cutout', 'completion']);
  expect(await completed(['media-services', 'video', '--or'])).toEqual(['--original']);
  expect((await run(['completion', 'zsh'])).stdout).toContain('#compdef media-services');
  expect((await run(['completion', 'fish'])).stdout).toContain('-l original');
});

test('ends quietly when the reader of its output has seen enough', async () => {
  const outcome = await start(['--help'], { onStart: (child) => child.stdout?.destroy() });
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
});

(existsSync('/dev/full') ? test : test.skip)('says that its output could not be written', async () => {
  await using server = await startServer(named('audio'));
  const command = `"${process.execPath}" "${program}" video ${page} --mp3 --server ${server.url}`;
  for (const output of ['', '-o -'])
    expect(await shell(`${command} ${output} > /dev/full`)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Free some space, then run the same command again.') as string,
    });
});

test('accepts a server URL in capitals, with spaces around it', async () => {
  await using server = await startServer(named('audio', 'Film.mp3'));
  const env = { MEDIA_SERVICES_URL: ` ${server.url.replace('http', 'HTTP')}/\r` };
  expect(await run(['video', page, '--mp3'], { env })).toMatchObject({ code: 0 });
});

test('prints its version and its help', async () => {
  expect((await run(['help'])).stdout).toContain('Usage');
  expect((await start(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await run(['video', '--help'])).stdout).toContain('Exit codes');
});

test('shows percent, speed and time left', () => {
  let now = 0;
  const line = progressLine(() => now);
  expect(line(0, 10_000_000)).toBe('0 %  [                    ]');
  now = 2000;
  expect(line(2_500_000, 10_000_000)).toBe('25 %  1.3 MB/s  6 s left  [#####               ]');
});

test('shows the size alone when the length is unknown, and never more than 100 %', () => {
  const line = progressLine(() => 0);
  expect(line(1500, undefined)).toBe('2 kB');
  expect(line(1500, 1000)).toContain('100 %');
});

test.each([
  [41.2, '42 s'],
  [61, '1:01'],
  [3723, '1:02:03'],
])('formats %d seconds as %s', (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});
