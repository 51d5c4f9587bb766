import { mkdtempSync, rmSync, statSync, createReadStream } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { EventEmitter, once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser, findExecutable } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { z } from 'zod';
import type { Program } from './programs.js';

/**
 * Plays in the page: reads the length, seeks to the middle, then to the end, and reports each step. A
 * media element decodes the frame that it seeks to.
 */
const page = (source: string) => `<!doctype html><meta charset="utf-8">
<video muted preload="auto" src="${source.replaceAll('&', '&amp;')}"></video><script>
const video = document.querySelector('video');
const next = (name) => new Promise((resolve, reject) => {
  video.addEventListener(name, resolve, { once: true });
  video.addEventListener('error', () => reject(new Error(video.error?.message || 'error')), { once: true });
});
const seek = async (time) => { const done = next('seeked'); video.currentTime = time; await done; return video.currentTime; };
(async () => {
  if (video.readyState < 2) await next('loadeddata');
  const seconds = video.duration;
  const middle = await seek(seconds / 2);
  const ended = next('ended');
  await seek(seconds - 0.2);
  await video.play();
  await ended;
  return { seconds, middle, end: video.currentTime, width: video.videoWidth };
})().catch((error) => ({ error: String(error) })).then((seen) => fetch('seen', { method: 'POST', body: JSON.stringify(seen) }));
</script>`;

const report = z.union([
  z.object({ error: z.string() }),
  z.object({ seconds: z.number(), middle: z.number(), end: z.number(), width: z.number() }),
]);

/** A player that opens a web page with the file, or with the URL. @param start starts the browser with an empty profile at a URL */
function browser(
  start: (url: string, profile: string) => { readonly pid?: number | undefined } & PromiseLike<unknown>,
): Program {
  return async (file) => {
    const profile = mkdtempSync(join(tmpdir(), 'media-services-player-'));
    const reports = new EventEmitter();
    const seen = once(reports, 'seen') as Promise<[string]>;
    const server = createServer((req, res) => {
      if (req.url === '/media') sendFile(req.headers.range, file, res);
      else if (req.url === '/seen') {
        let body = '';
        req.setEncoding('utf8').on('data', (part: string) => (body += part));
        req.on('end', () => {
          res.end();
          reports.emit('seen', body);
        });
      } else
        res
          .writeHead(200, { 'Content-Type': 'text/html' })
          .end(page(file.startsWith('http') ? file : 'media'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port.');
    const running = start(`http://127.0.0.1:${address.port}/`, profile);
    try {
      const ended = running.then(() => Promise.reject(new Error('The browser ended, or is missing.')));
      const [seenBy] = await Promise.race([seen, ended]);
      const result = report.parse(JSON.parse(seenBy));
      if ('error' in result) throw new Error(result.error);
      expect(result.middle).toBeCloseTo(result.seconds / 2, 1);
      expect(result.end).toBeCloseTo(result.seconds, 0);
      return { seconds: result.seconds };
    } finally {
      // The programs are scripts that start the browser.
      if (running.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
      await running;
      server.closeAllConnections();
      server.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  };
}

function sendFile(range: string | undefined, file: string, res: ServerResponse): void {
  const { size } = statSync(file);
  const type = file.endsWith('.mp4') ? 'video/mp4' : file.endsWith('.m4a') ? 'audio/mp4' : 'audio/mpeg';
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const [start, end] = [Number(from ?? 0), to ? Number(to) : size - 1];
  res.writeHead(from === undefined ? 200 : 206, {
    'Content-Type': type,
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start + 1,
    ...(from !== undefined && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  });
  createReadStream(file, { start, end })
    .on('error', () => res.destroy())
    .pipe(res);
}

const run = (program: string, args: readonly string[]) =>
  execa(program, args, { reject: false, stdio: 'ignore', detached: true, cleanup: false });

export const chromium = browser((url, profile) =>
  run(findBrowser() ?? 'chromium', [
    ...['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    ...[
      '--autoplay-policy=no-user-gesture-required',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      url,
    ],
  ]),
);

export const firefox = browser((url, profile) =>
  run(findExecutable('firefox-esr') ?? findExecutable('firefox') ?? 'firefox', [
    ...['--headless', '--no-remote', '--profile', profile, url],
  ]),
);
