/**
 * How many requests a second one machine serves: raises the arrival rate through the gateway until
 * the 99th percentile breaks its bound, or a request fails.
 *
 *   npm run bench -- load          about four minutes
 *   npm run bench -- load --keep   also writes the result into docs/internals/benchmarks.md
 *   npm run bench -- load --gateway http://127.0.0.1:8080 --site 172.17.0.1:8000
 *       a stack that runs already, for example with replicas; it must be allowed to read the site,
 *       which this program serves at that address, and have no limits per client
 */
import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startSampleSite } from '@media-services/fault-site';
import { startHealthyStack, type Stack } from '@media-services/stack';
import { logsDir, toolsDir } from '@media-services/stack/set-up';
import { photographs } from './bg/photographs.js';
import { arrivals, type LoadRequest } from './load/arrivals.js';
import { treeUse } from './load/process-tree.js';
import { infoUrl, streamUrl } from './measured-stack.js';
import { benchMedia } from './media.js';
import { keep, machine } from './report.js';

const stepSeconds = 5;
const growth = 1.5;
const maxSteps = 10;
const cores = availableParallelism();

interface Scenario {
  readonly what: string;
  readonly part: 'video-dl' | 'bg-removal';
  /** Requests per second of the first step. */
  readonly firstRate: number;
  /** That the slowest of a hundred may take. */
  readonly boundMs: number;
  /** The request with this number. */
  readonly request: (number: number) => LoadRequest;
}

interface Step {
  readonly rate: number;
  readonly p99Ms: number;
  readonly failed: number;
  /** Unknown where the stack is not our own. */
  readonly use: { readonly cpuSecondsPerRequest: number; readonly memoryBytes: number } | undefined;
}

const { values: options } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    gateway: { type: 'string' },
    site: { type: 'string' },
  },
});
const [address = '127.0.0.1', port = '0'] = options.site?.split(':') ?? [];
const load = loadavg()[0] ?? 0;
const folder = await benchMedia(20e6);
const [picture] = await photographs(toolsDir, [0.7]);
if (picture === undefined) throw new Error('there is no picture');
const upload = form(await readFile(picture.file));

{
  await using site = await startSampleSite(folder, { address, port: Number(port) });
  await using ownStack = options.gateway === undefined ? await startOwnStack(site.host) : undefined;
  const gateway = options.gateway ?? ownStack?.url ?? '';
  const page = (media: string, query = '') => site.url(`/watch?media=${media}${query}`);
  const get = (url: string): LoadRequest => ({ url });
  const scenarios: Scenario[] = [
    {
      what: '`/api/info`, page known',
      part: 'video-dl',
      firstRate: 50,
      boundMs: 250,
      request: () => get(infoUrl(gateway, page('long.mp4'))),
    },
    {
      what: '`/api/info`, new page',
      part: 'video-dl',
      firstRate: 2,
      boundMs: 1500,
      request: (number) => get(infoUrl(gateway, page('long.mp4', `&number=${number}`))),
    },
    {
      what: 'MP4 of 20 MB, passed on',
      part: 'video-dl',
      firstRate: 2,
      boundMs: 1500,
      request: () => get(streamUrl(gateway, page('long.mp4'), 'mp4-1080')),
    },
    {
      what: 'MP4 of 20 MB, remuxed',
      part: 'video-dl',
      firstRate: 2,
      boundMs: 1500,
      request: () => get(streamUrl(gateway, page('long.mov'), 'mp4-1080')),
    },
    {
      what: 'MP4 of 20 MB, made by ffmpeg',
      part: 'video-dl',
      firstRate: 1,
      boundMs: 2500,
      request: () => get(streamUrl(gateway, page('long.mkv'), 'mp4-1080')),
    },
    {
      what: 'MP3 of 30 s',
      part: 'video-dl',
      firstRate: 1,
      boundMs: 2500,
      request: () => get(streamUrl(gateway, page('film-720.mov'), 'mp3')),
    },
    {
      what: 'Image of 0.7 megapixels',
      part: 'bg-removal',
      firstRate: 0.5,
      boundMs: 5000,
      request: () => ({ url: `${gateway}/api/remove-background`, ...upload }),
    },
  ];
  const rows: string[] = [];
  for (const scenario of scenarios) {
    const best = await highestRate(ownStack, scenario);
    rows.push(row(scenario, best));
    process.stdout.write(`${rows.at(-1)}\n`);
  }
  const ranOn = await machine(`${gateway}/video-dl`, load);
  const table = [
    '| request | bound | served per second | slowest of 100 | CPU per request | memory | people per core |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
  process.stdout.write(`\n${ranOn}\n\n${table}\n`);
  if (options.keep) {
    const conditions = `Gateway, services, the site and the clients share the ${cores} cores. Requests arrive at a fixed rate, each from another address; the rate rises by half every ${stepSeconds} s until one in a hundred takes longer than the bound, or one fails.`;
    const notes = `CPU and memory are those of the service with all its processes. *People per core* is how many a core serves when each sends one such request a minute. Multiply by the cores: more than ${cores} have not been measured. The limits of streams and of requests a minute were lifted.`;
    await keep(
      'bench:load',
      `## Load\n\n\`npm run bench -- load\` on ${ranOn}. ${conditions}\n\n${table}\n\n${notes}`,
    );
  }
}

/** Without the limits that a load test would meet. */
function startOwnStack(siteHost: string): Promise<Stack> {
  return startHealthyStack({
    env: {
      ...process.env,
      ALLOWED_PRIVATE_SOURCES: siteHost,
      SHUTDOWN_GRACE_SECONDS: '0',
      TRUSTED_PROXIES: '127.0.0.1',
      VIDEO_REQUESTS_PER_MINUTE: '0',
      IMAGES_PER_MINUTE: '0',
      LOG_LEVEL: 'warn',
      STREAMS_MAX: '256',
    },
    logsDir: `${logsDir}/bench`,
  });
}

/** The last step whose bound held. */
async function highestRate(stack: Stack | undefined, scenario: Scenario): Promise<Step | undefined> {
  let best: Step | undefined;
  await arrivals(1, 1, () => scenario.request(0)); // so that no step pays for the first use of an engine
  let rate = scenario.firstRate;
  let begun = 1_000_000;
  for (let step = 0; step < maxSteps; step += 1, rate *= growth) {
    const measured = await measure(stack, scenario, rate, begun);
    begun += 1_000_000;
    process.stdout.write(
      `  ${scenario.what}: ${rate.toFixed(1)}/s, p99 ${Math.round(measured.p99Ms)} ms, ${measured.failed} failed\n`,
    );
    if (measured.failed > 0 || measured.p99Ms > scenario.boundMs) break;
    best = measured;
  }
  return best;
}

async function measure(
  stack: Stack | undefined,
  { request, part }: Scenario,
  rate: number,
  begun: number,
): Promise<Step> {
  const amount = Math.max(3, Math.round(rate * stepSeconds));
  const use = async () => stack && (await treeUse(stack.pidOf(part)));
  const before = await use();
  const { times, failed } = await arrivals(amount, rate, (index) => request(begun + index));
  const after = await use();
  return {
    rate,
    p99Ms: times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Infinity,
    failed,
    use: before &&
      after && {
        cpuSecondsPerRequest: (after.cpuSeconds - before.cpuSeconds) / amount,
        memoryBytes: after.memoryBytes,
      },
  };
}

function row({ what, boundMs }: Scenario, best: Step | undefined): string {
  const cells =
    best === undefined
      ? ['none', '', '', '', '']
      : [
          best.rate.toFixed(best.rate < 10 ? 1 : 0),
          `${Math.round(best.p99Ms)} ms`,
          ...useCells(best.use),
          String(Math.round((best.rate * 60) / cores)),
        ];
  return `| ${[what, `${boundMs / 1000} s`, ...cells].join(' | ')} |`;
}

function useCells(use: Step['use']): readonly [cpu: string, memory: string] {
  if (use === undefined) return ['', ''];
  const { cpuSecondsPerRequest: cpu, memoryBytes } = use;
  return [`${(cpu * 1000).toFixed(cpu < 0.01 ? 1 : 0)} ms`, `${Math.round(memoryBytes / 1e6)} MB`];
}

function form(file: Buffer): Pick<LoadRequest, 'headers' | 'body'> {
  const boundary = 'bench-load';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="picture.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`;
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
