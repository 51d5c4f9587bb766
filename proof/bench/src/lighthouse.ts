/**
 * Lighthouse on the web page and its documentation, as the gateway serves them, with
 * services that answer health only. Lighthouse comes from npm, the browser is the
 * system's Chromium (or CHROMIUM_PATH).
 *
 *   npm run bench -- lighthouse          about three minutes
 *   npm run bench -- lighthouse --keep   also writes the result into docs/internals/web-page.md
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startNginx } from '@media-services/stack';
import { findBrowser, root } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { z } from 'zod';
import { keep } from './report.js';

/** The last release for Node 20. */
const lighthouse = 'lighthouse@12.8.2';
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
const leastScore = 95;
const pages = ['/', '/docs/', '/docs/examples', '/docs/errors'];
const formFactors = { phone: [], desk: ['--preset=desktop'] };

const { values: options } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const score = z.object({ score: z.number().nullable() });
const reportSchema = z.object({
  environment: z.object({ hostUserAgent: z.string() }),
  audits: z.object({ 'total-byte-weight': z.object({ numericValue: z.number() }) }),
  categories: z.object({ performance: score, accessibility: score, 'best-practices': score, seo: score }),
});
type Report = z.infer<typeof reportSchema>;

await using service = await startHealthyService();
const folder = await mkdtemp(join(tmpdir(), 'media-services-lighthouse-'));
try {
  await using gateway = await startNginx({
    gatewayDir: join(root, 'nginx'),
    runDir: join(folder, 'run'),
    variables: {
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: service.host,
      BG_REMOVAL_UPSTREAM: service.host,
    },
  });
  const load = loadavg()[0] ?? 0;
  const rows: string[] = [];
  let browser = '';
  for (const page of pages) {
    for (const [formFactor, flags] of Object.entries(formFactors)) {
      const report = await measure(`http://127.0.0.1:${gateway.port}${page}`, flags);
      browser = /Chrome\/\d+/.exec(report.environment.hostUserAgent)?.[0].replace('/', ' ') ?? 'unknown';
      rows.push(row(page, formFactor, report));
      process.stdout.write(`${rows.at(-1)}\n`);
    }
  }
  if (options.keep)
    await keep(
      'bench:lighthouse',
      section(rows, `${browser}, nginx ${gateway.version ?? 'unknown'}`, load),
      'docs/internals/web-page.md',
    );
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(url: string, flags: readonly string[]): Promise<Report> {
  const { stdout } = await execa(
    'npx',
    [
      ...['--yes', lighthouse, url, '--quiet', '--output=json', `--only-categories=${categories.join()}`],
      ...['--chrome-flags=--headless=new --no-sandbox', ...flags],
    ],
    { env: { CHROME_PATH: findBrowser() } },
  );
  return reportSchema.parse(JSON.parse(stdout));
}

function row(page: string, formFactor: string, { categories: scores, audits }: Report): string {
  const percents = categories.map((name) => Math.round((scores[name].score ?? 0) * 100));
  if (percents.some((percent) => percent < leastScore)) process.exitCode = 1;
  const kilobytes = Math.round(audits['total-byte-weight'].numericValue / 1000);
  return `| \`${page}\` | ${formFactor} | ${percents.join(' | ')} | ${kilobytes} kB |`;
}

function section(rows: readonly string[], programs: string, load: number): string {
  const head =
    '| Page | Form factor | Performance | Accessibility | Best practices | SEO | Sent |\n| --- | --- | --- | --- | --- | --- | --- |';
  return `${lighthouse.replace('@', ' ')} with ${programs}; load of the machine before: ${load.toFixed(1)}.\n\n${head}\n${rows.join('\n')}`;
}

/** Responds to every request like the health of a healthy service. */
async function startHealthyService(): Promise<AsyncDisposable & { readonly host: string }> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ status: 'ok', checks: {} }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    host: `127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
