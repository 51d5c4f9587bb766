import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { atNight } from '../../../vitest/at-night.js';
import { launchBrowser } from '../support/browser.js';
import { root } from '../support/stack.js';

const run = promisify(execFile);
const packageFolder = join(root, 'packages/client');
const audio = '0123456789';

let folder: string;
let tarball: string;
let site: AsyncDisposable & { readonly url: string };

/** Installs the packed client as npm would, with this repository's copies of its dependencies. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-package-'));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@media-services'), { recursive: true });
  // As its README says. pnpm would add the repository's licence by itself.
  // Built already: a test builds nothing.
  const packed = await run('npm', ['pack', '--silent', '--ignore-scripts', packageFolder], { cwd: folder });
  tarball = join(folder, packed.stdout.trim());
  await run('tar', ['-xzf', tarball, '-C', join(modules, '@media-services')]);
  await run('mv', [join(modules, '@media-services/package'), join(modules, '@media-services/client')]);
  writeFileSync(join(folder, 'package.json'), '{ "dependencies": { "@media-services/client": "*" } }');
  // Only the command line uses it.
  symlinkSync(realpathSync(join(packageFolder, 'node_modules/zod')), join(modules, 'zod'));
  site = await startSite();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Serves the installed packages to a browser, and an audio stream that breaks once. */
async function startSite() {
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://site');
    if (pathname === '/') {
      res.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>client</title>');
    } else if (!pathname.startsWith('/api/stream')) {
      res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(join(folder, pathname)));
    } else {
      const isRest = req.headers.range === 'bytes=4-' && req.headers['if-range'] === '"v1"';
      res.writeHead(isRest ? 206 : 200, {
        'Content-Type': 'audio/mpeg',
        'Content-Length': isRest ? 6 : 10,
        'Accept-Ranges': 'bytes',
        ETag: '"v1"',
        ...(isRest ? { 'Content-Range': 'bytes 4-9/10' } : {}),
      });
      if (isRest) res.end(audio.slice(4));
      else res.write(audio.slice(0, 4), () => setTimeout(() => res.socket?.resetAndDestroy(), 100));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

describe('the packed client', () => {
  it('contains its licence, its types and nothing but the build', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball]);
    expect(stdout).toContain('package/LICENSE');
    expect(stdout).toContain('package/README.md');
    expect(stdout).toContain('package/dist/index.d.ts');
    expect(stdout).not.toMatch(/package\/(?:src|test)\//);
  });

  it('resumes a broken stream in Node', async () => {
    const script = join(folder, 'script.mjs');
    writeFileSync(script, `${downloadSource}\nconsole.log(await download(${JSON.stringify(site.url)}));\n`);
    expect((await run(process.execPath, [script])).stdout).toBe(`${audio}\n`);
  });

  it('resumes a broken stream in a CommonJS program', async () => {
    const script = join(folder, 'script.cjs');
    const source = downloadSource.replace(/import (.*) from (.*);/, 'const $1 = require($2);');
    writeFileSync(script, `${source}\ndownload(${JSON.stringify(site.url)}).then(console.log);\n`);
    expect((await run(process.execPath, [script])).stdout).toBe(`${audio}\n`);
  });

  it.each(
    atNight([
      ['Deno', deno],
      ['Bun', bun],
    ] as const),
  )('resumes a broken stream in %s', async (_name, program) => {
    const script = join(folder, 'runtime.mjs');
    writeFileSync(script, `${downloadSource}\nconsole.log(await download(${JSON.stringify(site.url)}));\n`);
    const [file, ...options] = await program();
    expect((await run(file, [...options, script], { cwd: folder })).stdout).toBe(`${audio}\n`);
  });

  it.each(['esm.mts', 'commonjs.cts'])('has complete types for %s with `module: node16`', async (name) => {
    const program = `import { MediaServicesClient, MediaServicesError, type RejectedField } from '@media-services/client';
import { saveTo } from '@media-services/client/node';
export async function save(url: string): Promise<readonly RejectedField[]> {
  const client = new MediaServicesClient({ baseUrl: 'http://127.0.0.1' });
  try {
    await saveTo('film.mp4', (resume) => client.video(url, 'mp4-1080', { resume }));
  } catch (error) {
    if (error instanceof MediaServicesError && error.code === 'geo_blocked') return error.fields;
    // @ts-expect-error -- a number is no code
    if (error instanceof MediaServicesError && error.code === 7) throw error;
  }
  const { status, limits } = await client.health();
  return [{ field: status, message: String(limits.streamsPerClient) }];
}
`;
    writeFileSync(join(folder, name), program);
    const types = join(root, 'node_modules/@types');
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'node16',
      '--target',
      'es2022',
      '--typeRoots',
      types,
      '--types',
      'node',
    ];
    await run(join(root, 'node_modules/.bin/tsc'), [...options, join(folder, name)], { cwd: folder });
  });

  it('is at most 20 kB in a browser, minified, without the command line and its dependencies', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from '@media-services/client'`, resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    });
    expect(outputFiles[0]?.contents.length).toBeLessThan(20_000);
  });

  it('runs the example of its README', async () => {
    const readme = readFileSync(join(packageFolder, 'README.md'), 'utf8');
    const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
    const script = join(folder, 'example.mjs');
    writeFileSync(script, example.replace('http://127.0.0.1:8080', site.url));
    const { stdout } = await run(process.execPath, [script], { cwd: folder });
    expect(stdout).toBe('4 10\n10 10\n');
    expect(readFileSync(join(folder, 'video.mp4'), 'utf8')).toBe(audio);
  });

  it('runs its command line', async () => {
    const program = join(folder, 'node_modules/@media-services/client/bin/media-services.js');
    expect((await run(process.execPath, [program, '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('resumes a broken stream in a browser', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(site.url);
      const imports = {
        '@media-services/client': '/node_modules/@media-services/client/dist/index.js',
      };
      await page.addScriptTag({ type: 'importmap', content: JSON.stringify({ imports }) });
      await page.addScriptTag({
        type: 'module',
        content: `${downloadSource}\ndownload(location.origin).then((text) => (document.title = text));`,
      });
      await page.waitForFunction((text) => document.title === text, audio);
    } finally {
      await browser.close();
    }
  });
});

type Command = readonly [program: string, ...options: string[]];

/** The one that yt-dlp brings. */
const deno = async (): Promise<Command> =>
  Promise.resolve([
    join(root, 'apps/video-dl/engine/.venv/bin/deno'),
    'run',
    '--allow-all',
    '--node-modules-dir=manual',
  ]);

async function bun(): Promise<Command> {
  const tools = join(root, '.tools/bun-1.4.5');
  const program = join(tools, 'node_modules/.bin/bun');
  if (!existsSync(program)) await run('npm', ['install', '--no-audit', '--prefix', tools, 'bun@1.4.5']);
  return [program];
}

const downloadSource = `import { MediaServicesClient } from '@media-services/client';
async function download(baseUrl) {
  const media = await new MediaServicesClient({ baseUrl }).audio('https://example.com/film');
  return new Response(media.body).text();
}`;
