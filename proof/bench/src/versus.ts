/**
 * Measures this checkout's video-dl beside another checkout's, such as an earlier version,
 * and beside yt-dlp and ffmpeg alone, alternating in one run on loopback. Sources come over https, and
 * clients read through the gateway.
 *
 *   git worktree add ../before v0.1.0 && (cd ../before && npm run setup)
 *   npm run bench -- versus ../before           about ten minutes
 *   npm run bench -- versus ../before --keep    also writes the result into docs/internals/benchmarks.md
 *   npm run bench -- versus ../before --only f  info, throughput, first byte or memory alone: i, t, f, m
 */
import { rmSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startSampleSite, type SampleSite } from '@media-services/fault-site';
import { root, setUpPythonEngine } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { infoUrl, streamUrl } from './measured-stack.js';
import {
  bareFfmpeg,
  inTurn,
  timeAnswer,
  timeBareFfmpeg,
  timeCommand,
  timeDownload,
  timeFirstByte,
} from './measure.js';
import { benchMedia } from './media.js';
import { keep, machine, mb, ms, renderTable, times, type Row } from './report.js';
import { median } from './statistics.js';
import { holdStreams } from './video/memory.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'itfm' },
  },
});
const [other] = positionals;
if (other === undefined)
  throw new Error('Name the other checkout, with its dependencies installed and built.');
const rounds = Number(options.rounds);
const ticksPerSecond = 100;
const firstPort = 18_451;
const warmUpDownloads = 6;
const slowClients = 10;
const slowBytesPerSecond = 500_000;
const slowSeconds = 20;
const maxSlowerMs = 5;
/** Noise between two runs of the same code. */
const minSpeedRatio = 0.95;
const maxStreamBytes = 4e6;
const minInfoRatio = 40;

interface Service extends AsyncDisposable {
  readonly videoDlUrl: string;
  videoDlMemory(): Promise<number>;
  /** Of the gateway, the service and all its processes, so far. */
  cpuSeconds(): Promise<number>;
}

const secrets = await mkdtemp(join(tmpdir(), 'bench-versus-'));
process.once('exit', () => rmSync(secrets, { recursive: true }));
const [key, certificate] = [join(secrets, 'key.pem'), join(secrets, 'certificate.pem')];
await execa('openssl', [
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
  ...['-subj', '/CN=The site', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
]);
const load = loadavg()[0] ?? 0;
const folder = await benchMedia(300e6);
const { stdout: commit } = await execa('git', ['-C', resolve(other), 'rev-parse', '--short=7', 'HEAD']);
let pages = 0;
const newPage = (site: SampleSite, media: string) => site.url(`/watch?media=${media}&page=${(pages += 1)}`);
const rows: Row[] = [];
const add = (row: Row) => {
  rows.push(row);
  process.stdout.write(`${row.what}: ${row.value}, ${row.reference ?? ''} ${row.ratio ?? ''}\n`);
};

{
  const tls = { key: await readFile(key, 'utf8'), cert: await readFile(certificate, 'utf8') };
  await using site = await startSampleSite(folder, { tls });
  await using now = await startService(root, site, firstPort);
  await using before = await startService(resolve(other), site, firstPort + 2);
  const both = { now, before };
  if (options.only.includes('i')) await info(both, site);
  if (options.only.includes('t')) await throughput(both, site);
  if (options.only.includes('f')) await firstByte(both, site);
  if (options.only.includes('m')) await memory(both, site);
  const ranOn = await machine(`${now.videoDlUrl}/video-dl`, load);
  const table = renderTable(rows, 'this checkout');
  process.stdout.write(`\n${ranOn}\n\n${table}\n`);
  if (options.keep) {
    const heading = `## Beside ${commit}\n\n\`npm run bench -- versus\`: both versions in one run, alternating, through the gateway, sources over https, on ${ranOn}.`;
    const notes = `Times, CPU and memory are medians of ${rounds}, after ${warmUpDownloads} downloads of the same file; \`/api/info\` of ${5 * rounds}, first bytes of ${8 * rounds}. Speed ratios are medians of each round's ratio. Bare ffmpeg writes into a pipe. Memory is what each of ${slowClients} slow readers of an MP4 that ffmpeg makes adds to the Node process.`;
    await keep('bench:versus', `${heading}\n\n${table}\n\n${notes}`);
  }
}

async function startService(checkout: string, site: SampleSite, port: number): Promise<Service> {
  const child = execa(process.execPath, ['scripts/start.mjs'], {
    cwd: checkout,
    env: {
      SERVICES: 'video-dl',
      PORT: String(port),
      VIDEO_DL_METRICS_PORT: String(port + 1),
      ALLOWED_PRIVATE_SOURCES: site.host,
      TRUSTED_ROOTS_FILE: certificate,
      ENGINE_PROCESSES: '1',
      STREAMS_MAX: '64',
      STREAMS_PER_CLIENT: '64',
      VIDEO_REQUESTS_PER_MINUTE: '0',
      SHUTDOWN_GRACE_SECONDS: '0',
    },
    stdin: 'ignore',
    stderr: 'inherit',
    buffer: false,
    reject: false,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`Node.js did not start in ${checkout}.`);
  // It goes on writing, so nothing may close its output.
  const isReady = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('ready after')) resolve();
    });
  });
  const ended = child.then(() => Promise.reject(new Error(`The stack of ${checkout} has ended.`)));
  await Promise.race([isReady, ended]);
  return {
    videoDlUrl: `http://127.0.0.1:${port}`,
    videoDlMemory: async () => {
      const usages = await tree(pid);
      const node = usages.find(({ command }) => command.includes('/video-dl/dist/main.js'));
      const status = await readFile(`/proc/${node?.pid ?? pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) * 1024;
    },
    cpuSeconds: async () => (await tree(pid)).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGINT');
      await child;
    },
  };
}

interface Usage {
  readonly pid: number;
  readonly command: string;
  /** With that of its ended children. */
  readonly cpuSeconds: number;
}

/** A process and all its descendants. */
async function tree(root: number): Promise<Usage[]> {
  const [stat, command, children] = await Promise.all([
    readFile(`/proc/${root}/stat`, 'utf8'),
    readFile(`/proc/${root}/cmdline`, 'utf8'),
    readFile(`/proc/${root}/task/${root}/children`, 'utf8'),
  ]);
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .reduce((sum, each) => sum + Number(each), 0);
  const own = { pid: root, command, cpuSeconds: ticks / ticksPerSecond };
  const below = children.split(' ').flatMap((each) => (each.trim() === '' ? [] : Number(each)));
  return [own, ...(await Promise.all(below.map(tree))).flat()];
}

type Both = Readonly<Record<'now' | 'before', Service>>;

/** A page that both services have already cached. */
async function knownPage({ now, before }: Both, site: SampleSite, media: string): Promise<string> {
  const page = newPage(site, media);
  for (const { videoDlUrl } of [now, before]) await timeAnswer(infoUrl(videoDlUrl, page));
  return page;
}

async function info({ now, before }: Both, site: SampleSite): Promise<void> {
  const { python } = await setUpPythonEngine({ root });
  const uncached =
    ({ videoDlUrl }: Service) =>
    () =>
      timeAnswer(infoUrl(videoDlUrl, newPage(site, 'film-720.mp4')));
  const command = () => [
    ...[
      '-m',
      'yt_dlp',
      '--ignore-config',
      '--no-cache-dir',
      '--no-check-certificates',
      '-J',
      newPage(site, 'film-720.mp4'),
    ],
  ];
  const fast = await inTurn(5 * rounds, { now: uncached(now), before: uncached(before) });
  const slow = await inTurn(rounds, { ytDlp: () => timeCommand(python, command()) });
  const ytDlp = median(slow.ytDlp);
  const ratio = ytDlp / median(fast.now);
  add({
    what: '`/api/info`, page unknown',
    value: ms(median(fast.now)),
    ratio: times(ratio),
    reference: `\`yt-dlp -J\`: ${ms(ytDlp)}; ${commit}: ${ms(median(fast.before))}`,
    goal: `≥ ${minInfoRatio} × \`yt-dlp -J\``,
    isMet: ratio >= minInfoRatio,
  });
}

async function throughput(both: Both, site: SampleSite): Promise<void> {
  for (const [what, media, target, args, minBare, maxWork] of [
    ['MP4 of 300 MB, passed on', 'long.mp4', 'mp4-1080', bareFfmpeg.mp4, 0.95, 1.05],
    ['MP4 of 300 MB, remuxed', 'long.mov', 'mp4-1080', bareFfmpeg.mp4, 0.7, 1.05],
    ['MP4 of 300 MB, made by ffmpeg', 'long.mkv', 'mp4-1080', bareFfmpeg.mp4, 0.92, 1.05],
    ['HLS of 300 MB, transport stream', 'long-hls/index.m3u8', 'mp4-1080', bareFfmpeg.hls, 0.8, 0.85],
    ['HLS of 300 MB, fragmented MP4', 'long-fmp4/index.m3u8', 'mp4-1080', bareFfmpeg.mp4, 0.68, 0.85],
    ['MP3 of 10 minutes', 'long.m4a', 'mp3', bareFfmpeg.mp3, 0.95, 1.05],
  ] as const) {
    const page = await knownPage(both, site, media);
    let cpu: Record<keyof Both, number[]> = { now: [], before: [] };
    const download = (name: keyof Both) => async () => {
      const startedAt = await both[name].cpuSeconds();
      const time = await timeDownload(streamUrl(both[name].videoDlUrl, page, target));
      cpu[name].push((await both[name].cpuSeconds()) - startedAt);
      return time;
    };
    const bare = () => timeBareFfmpeg(site.url(`/${media}`), args);
    // A process's first downloads compile what later ones only run, and an earlier medium may have run it in one version alone.
    await inTurn(warmUpDownloads, { now: download('now'), before: download('before') });
    cpu = { now: [], before: [] };
    const measured = await inTurn(rounds, { now: download('now'), before: download('before'), bare });
    const { now, before, bare: ffmpeg } = measured;
    const speed = (of: readonly number[], beside: readonly number[]) =>
      median(of.map((time, round) => (beside[round] ?? Number.NaN) / time));
    const ratio = speed(now, before);
    const goal = { goal: `≥ ${minSpeedRatio} ×`, isMet: ratio >= minSpeedRatio };
    const reference = `${commit}: ${ms(median(before))}`;
    add({ what, value: ms(median(now)), reference, ratio: times(ratio), ...goal });
    const besideFfmpeg = speed(now, ffmpeg);
    add({
      what: `${what}, beside bare ffmpeg`,
      value: times(besideFfmpeg),
      reference: `ffmpeg: ${ms(median(ffmpeg))}; ${commit}: ${times(speed(before, ffmpeg))}`,
      goal: `≥ ${minBare} ×`,
      isMet: besideFfmpeg >= minBare,
    });
    const work = median(cpu.now.map((seconds, round) => seconds / (cpu.before[round] ?? Number.NaN)));
    add({
      what: `${what}: CPU, gateway and ffmpeg included`,
      value: `${median(cpu.now).toFixed(2)} s`,
      reference: `${commit}: ${median(cpu.before).toFixed(2)} s`,
      ratio: times(work),
      goal: `≤ ${maxWork} ×`,
      isMet: work <= maxWork,
    });
  }
}

async function firstByte(both: Both, site: SampleSite): Promise<void> {
  for (const [what, media, target] of [
    ['MP4, passed on', 'film-720.mp4', 'mp4-720'],
    ['MP4, remuxed', 'film-720.mov', 'mp4-720'],
    ['MP4, made by ffmpeg', 'film-720.mkv', 'mp4-720'],
    ['MP3', 'film-720.mp4', 'mp3'],
  ] as const) {
    const page = await knownPage(both, site, media);
    const first =
      ({ videoDlUrl }: Service) =>
      () =>
        timeFirstByte(streamUrl(videoDlUrl, page, target));
    const measured = await inTurn(8 * rounds, { now: first(both.now), before: first(both.before) });
    const [now, before] = [median(measured.now), median(measured.before)];
    const later = now - before;
    add({
      what: `first byte of ${what}, page known`,
      value: ms(now),
      reference: `${commit}: ${ms(before)}`,
      ratio: `${later.toFixed(1)} ms`,
      goal: `≤ ${maxSlowerMs} ms later`,
      isMet: later <= maxSlowerMs,
    });
  }
}

async function memory(both: Both, site: SampleSite): Promise<void> {
  const ofStream = (stack: Service) => async () => {
    const page = await knownPage(both, site, 'long.mkv');
    const hold = { stack, site, page, bytesPerSecond: slowBytesPerSecond, seconds: slowSeconds };
    const one = await holdStreams({ ...hold, clients: 1 });
    const many = await holdStreams({ ...hold, clients: slowClients });
    return (many.mean - one.mean) / (slowClients - 1);
  };
  const measured = await inTurn(rounds, { now: ofStream(both.now), before: ofStream(both.before) });
  const [now, before] = [median(measured.now), median(measured.before)];
  add({
    what: 'memory of a stream',
    value: mb(now),
    reference: `${commit}: ${mb(before)}`,
    goal: `≤ ${mb(maxStreamBytes)}`,
    isMet: now <= maxStreamBytes,
  });
}
