import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { newClient } from './support/client.js';
import { root, stack } from './support/stack.js';

const run = promisify(execFile);
const examples = join(root, 'docs/examples');
const interpreters: Readonly<Record<string, readonly string[]>> = {
  '.sh': ['sh', '-e'],
  '.mjs': [process.execPath],
  '.py': ['python3'],
};

/** The result of each example: a file with its first bytes, or words in its output. */
const results: Readonly<
  Record<string, { file: string; offset: number; signature: string } | { says: RegExp }>
> = {
  'video-info': { says: /A short sample film/ },
  'save-audio': { file: 'audio.mp3', offset: 0, signature: 'ID3' },
  'save-video': { file: 'video.mp4', offset: 4, signature: 'ftyp' },
  'resume-download': { file: 'audio.mp3', offset: 0, signature: 'ID3' },
  'remove-background': { file: 'cutout.png', offset: 1, signature: 'PNG' },
};

describe('the documented examples work', () => {
  it.each(readdirSync(examples))('%s', async (name) => {
    await using client = await newClient();
    const folder = mkdtempSync(join(tmpdir(), 'media-services-example-'));
    try {
      copyFileSync(stack.photo, join(folder, 'photo.jpg'));
      const [program = '', ...options] = interpreters[extname(name)] ?? [];
      const { stdout } = await run(program, [...options, join(examples, name)], {
        cwd: folder,
        env: { ...process.env, BASE_URL: client.url, VIDEO_URL: `${stack.films}/film` },
      });
      const result = results[name.replace(/\.\w+$/, '')];
      if (result === undefined) throw new Error(`The test does not know what ${name} should do.`);
      if ('says' in result) {
        expect(stdout).toMatch(result.says);
        return;
      }
      const bytes = readFileSync(join(folder, result.file));
      const { offset, signature } = result;
      expect(bytes.subarray(offset, offset + signature.length).toString('latin1')).toBe(signature);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it.each(readdirSync(examples).filter((name) => name.startsWith('save-')))(
  '%s fails when the connection ends before the file',
  async (name) => {
    const server = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': 10 });
      res.write('half', () => res.socket?.end());
    });
    const folder = mkdtempSync(join(tmpdir(), 'media-services-example-'));
    try {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const [program = '', ...options] = interpreters[extname(name)] ?? [];
      const env = {
        ...process.env,
        BASE_URL: `http://127.0.0.1:${port}`,
        VIDEO_URL: 'https://example.com/film',
      };
      await expect(
        run(program, [...options, join(examples, name)], { cwd: folder, env }),
      ).rejects.toMatchObject({
        code: expect.any(Number) as number,
      });
    } finally {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

it('the resume example continues half-finished files', async () => {
  await using client = await newClient();
  const folder = mkdtempSync(join(tmpdir(), 'media-services-example-'));
  try {
    const runExample = async () => {
      const env = { ...process.env, BASE_URL: client.url, VIDEO_URL: `${stack.films}/film` };
      await run('sh', ['-e', join(examples, 'resume-download.sh')], { cwd: folder, env });
    };
    const files = ['video.mp4', 'audio.mp3'].map((name) => join(folder, name));
    const digests = () => files.map((file) => createHash('sha256').update(readFileSync(file)).digest('hex'));
    await runExample();
    const whole = digests();
    for (const file of files) truncateSync(file, Math.floor(statSync(file).size / 2));
    await runExample();
    expect(digests()).toEqual(whole);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
