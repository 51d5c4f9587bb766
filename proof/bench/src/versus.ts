/**
 * Measures this checkout's video-dl beside another checkout's, such as an earlier commit,
 * alternating in one run on loopback, without the gateway.
 *
 *   git worktree add ../before f0ae776 && (cd ../before && npm run setup)
 *   pnpm bench:versus ../before           about five minutes
 *   pnpm bench:versus ../before --keep    also writes the result into docs/internals/benchmarks.md
 *   pnpm bench:versus ../before --only f  throughput, first byte or memory alone: t, f, m
 */
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSampleSite, type SampleSite } from '@media-services/fault-site';
import { freePort, root } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { infoUrl, streamUrl } from './measured-stack.js';
import { inTurn, median, timeAnswer, timeDownload, timeFirstByte } from './measure.js';
import { benchMedia } from './media.js';
import { keep, machine, mb, ms, renderTable, times, type Row } from './report.js';
import { holdStreams } from './video/memory.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'tfm' },
  },
});
const [other] = positionals;
if (other === undefined)
  throw new Error('Name the other checkout, with its dependencies installed and built.');
const rounds = Number(options.rounds);
const slowClients = 10;
const slowBytesPerSecond = 500_000;
const slowSeconds = 20;
const maxSlowerMs = 5;
/** Noise between two runs of the same code. */
const minSpeedRatio = 0.95;
const maxStreamBytes = 4e6;

interface Service extends AsyncDisposable {
  readonly videoDlUrl: string;
  videoDlMemory(): Promise<number>;
}

const load = loadavg()[0] ?? 0;
const folder = await benchMedia(300e6);
const { stdout: commit } = await execa('git', ['-C', resolve(other), 'rev-parse', '--short', 'HEAD']);
let pages = 0;
const newPage = (site: SampleSite, media: string) => site.url(`/watch?media=${media}&page=${(pages += 1)}`);
const rows: Row[] = [];
const add = (row: Row) => {
  rows.push(row);
  process.stdout.write(`${row.what}: ${row.value}, ${row.reference ?? ''} ${row.ratio ?? ''}\n`);
};

{
  await using site = await startSampleSite(folder);
  await using now = await startService(root, site);
  await using before = await startService(resolve(other), site);
  const both = { now, before };
  if (options.only.includes('t')) await throughput(both, site);
  if (options.only.includes('f')) await firstByte(both, site);
  if (options.only.includes('m')) await memory(both, site);
  const ranOn = await machine(now.videoDlUrl, load);
  const table = renderTable(rows, 'this checkout');
  process.stdout.write(`\n${ranOn}\n\n${table}\n`);
  if (options.keep) {
    const heading = `## Beside ${commit}\n\n\`pnpm bench:versus\`: both versions in one run, alternating, without the gateway, on ${ranOn}.`;
    const notes = `Speed is the best of ${rounds}, first bytes are medians of ${3 * rounds}. Memory is what each of ${slowClients} slow readers of a muxed MP4 adds to the Node process.`;
    await keep('bench:versus', `${heading}\n\n${table}\n\n${notes}`);
  }
}

async function startService(checkout: string, site: SampleSite): Promise<Service> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const child = execa(process.execPath, [resolve(checkout, 'apps/video-dl/dist/main.js')], {
    cwd: checkout,
    env: {
      ...{ HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: String(metricsPort), LOG_LEVEL: 'error' },
      ...{ ALLOWED_PRIVATE_SOURCES: site.host, ENGINE_POOL_SIZE: '1', MAX_CONCURRENT_STREAMS: '64' },
      ...{ CLIENT_IDLE_TIMEOUT_SECONDS: '600', SHUTDOWN_GRACE_SECONDS: '0' },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    reject: false,
  });
  const videoDlUrl = `http://127.0.0.1:${port}`;
  const isHealthy = () =>
    fetch(`${videoDlUrl}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    ); // not yet listening
  while (!(await isHealthy())) {
    if (child.exitCode !== null) throw new Error(`The service of ${checkout} has ended.`);
    await delay(200);
  }
  return {
    videoDlUrl,
    videoDlMemory: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) * 1024;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await child;
    },
  };
}

type Both = Readonly<Record<'now' | 'before', Service>>;

/** A page that both services know already. */
async function knownPage({ now, before }: Both, site: SampleSite, media: string): Promise<string> {
  const page = newPage(site, media);
  for (const { videoDlUrl } of [now, before]) await timeAnswer(infoUrl(videoDlUrl, page));
  return page;
}

async function throughput(both: Both, site: SampleSite): Promise<void> {
  for (const [what, media, target] of [
    ['MP4 of 300 MB, passed on', 'long.mp4', 'mp4-1080'],
    ['MP4 of 300 MB, muxed', 'long.mov', 'mp4-1080'],
    ['HLS of 300 MB, muxed', 'long-hls/index.m3u8', 'mp4-1080'],
    ['MP3 of 10 minutes', 'long.m4a', 'mp3'],
  ] as const) {
    const page = await knownPage(both, site, media);
    const download =
      ({ videoDlUrl }: Service) =>
      () =>
        timeDownload(streamUrl(videoDlUrl, page, target));
    const measured = await inTurn(rounds, { now: download(both.now), before: download(both.before) });
    const [now, before] = [Math.min(...measured.now), Math.min(...measured.before)];
    const ratio = before / now;
    const goal = { goal: `≥ ${minSpeedRatio} ×`, isMet: ratio >= minSpeedRatio };
    add({ what, value: ms(now), reference: `${commit}: ${ms(before)}`, ratio: times(ratio), ...goal });
  }
}

async function firstByte(both: Both, site: SampleSite): Promise<void> {
  for (const [what, media, target] of [
    ['MP4, passed on', 'film-720.mp4', 'mp4-720'],
    ['MP4, muxed', 'film-720.mov', 'mp4-720'],
    ['MP3', 'film-720.mp4', 'mp3'],
  ] as const) {
    const page = await knownPage(both, site, media);
    const first =
      ({ videoDlUrl }: Service) =>
      () =>
        timeFirstByte(streamUrl(videoDlUrl, page, target));
    const measured = await inTurn(3 * rounds, { now: first(both.now), before: first(both.before) });
    const [now, before] = [median(measured.now), median(measured.before)];
    const later = now - before;
    add({
      ...{ what: `first byte of ${what}, page known`, value: ms(now), reference: `${commit}: ${ms(before)}` },
      ...{ ratio: `${later.toFixed(1)} ms`, goal: `≤ ${maxSlowerMs} ms later`, isMet: later <= maxSlowerMs },
    });
  }
}

async function memory(both: Both, site: SampleSite): Promise<void> {
  const each: Record<string, number> = {};
  for (const name of ['now', 'before'] as const) {
    const page = await knownPage(both, site, 'long.mov');
    const hold = { stack: both[name], site, page, bytesPerSecond: slowBytesPerSecond, seconds: slowSeconds };
    const one = await holdStreams({ ...hold, clients: 1 });
    const many = await holdStreams({ ...hold, clients: slowClients });
    each[name] = (many.mean - one.mean) / (slowClients - 1);
  }
  const { now = Number.NaN, before = Number.NaN } = each;
  add({
    ...{ what: 'memory of a stream', value: mb(now), reference: `${commit}: ${mb(before)}` },
    ...{ goal: `≤ ${mb(maxStreamBytes)}`, isMet: now <= maxStreamBytes },
  });
}
