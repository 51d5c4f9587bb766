/**
 * Measures video-dl against comparable tools, on loopback.
 *
 *   npm run bench -- video              everything, about five minutes
 *   npm run bench -- video --quick      fewer repetitions
 *   npm run bench -- video --only d     only rows whose letter is given: abcdef
 *   npm run bench -- video --keep       also writes the result into docs/internals/benchmarks.md
 *   npm run bench -- video --soak 30    only: one stream of 30 minutes to a client that reads at 1 MB/s
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startSampleSite, type SampleSite } from '@media-services/fault-site';
import { root, setUpPythonEngine } from '@media-services/stack/set-up';
import { infoUrl, startMeasuredStack, streamUrl, type MeasuredStack } from './measured-stack.js';
import {
  bareFfmpeg,
  inTurn,
  medianOf,
  timeAnswer,
  timeBareFfmpeg,
  timeCommand,
  timeDownload,
  timeFirstByte,
} from './measure.js';
import { benchMedia } from './media.js';
import { keep, machine, mb, ms, renderTable, times, type Row } from './report.js';
import { holdStreams } from './video/memory.js';
import { startPlainProxy } from './video/proxy.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    only: { type: 'string', default: 'abcdef' },
    soak: { type: 'string' },
  },
});
const repeat = (many: number) => (options.quick ? Math.max(1, Math.ceil(many / 4)) : many);
const load = loadavg()[0] ?? 0;
const soakMinutes = Number(options.soak ?? 0);
const folder = await benchMedia(soakMinutes === 0 ? 300e6 : soakMinutes * 60e6 * 1.1);

/** What the measurements work with. */
interface Bench {
  readonly site: SampleSite;
  readonly stack: MeasuredStack;
  readonly add: (row: Row) => void;
}

const pageCount = { value: 0 };
/** A page that has not been requested before. */
const newPage = ({ site }: Bench, media: string, query = ''): string =>
  site.url(`/watch?media=${media}&page=${(pageCount.value += 1)}${query}`);

const rows: Row[] = [];
const add = (row: Row) => {
  rows.push(row);
  process.stdout.write(`${row.what}: ${row.value}${row.ratio === undefined ? '' : ` (${row.ratio})`}\n`);
};

{
  await using site = await startSampleSite(folder);
  await using stack = await startMeasuredStack(site);
  const bench = { site, stack, add };
  if (soakMinutes > 0) await soak(bench, soakMinutes);
  else {
    const parts = { a: info, c: firstByte, d: throughput, e: sound, f: memory };
    for (const [letter, measure] of Object.entries(parts)) {
      if (options.only.includes(letter)) await measure(bench);
    }
  }
  const ranOn = await machine(stack.videoDlUrl, load);
  const table = renderTable(rows, 'video-dl');
  process.stdout.write(`\n${ranOn}\n\n${table}\n`);
  if (options.keep) {
    await keep(
      'bench:video',
      `## video-dl\n\n\`npm run bench -- video\` on ${ranOn}. The media server, the service, ffmpeg and the client share the machine.\n\n${table}\n\n${notes()}`,
    );
  }
}

async function info(bench: Bench): Promise<void> {
  const { python } = await setUpPythonEngine({ root });
  const { videoDlUrl } = bench.stack;
  const page = () => newPage(bench, 'film-720.mp4');
  const command = await medianOf(repeat(4), () =>
    timeCommand(python, ['-m', 'yt_dlp', '--ignore-config', '--no-cache-dir', '-J', page()]),
  );
  const uncached = await medianOf(repeat(20), () => timeAnswer(infoUrl(videoDlUrl, page())));
  const known = page();
  await timeAnswer(infoUrl(videoDlUrl, known));
  const cached = await medianOf(repeat(200), () => timeAnswer(infoUrl(videoDlUrl, known)));
  const faster = command / uncached;
  bench.add({
    what: '(a) /api/info, uncached',
    value: ms(uncached),
    reference: `\`yt-dlp -J\`: ${ms(command)}`,
    ratio: times(faster),
    goal: '≥ 10 ×',
    isMet: faster >= 10,
  });
  bench.add({ what: '(b) /api/info, cached', value: ms(cached), goal: '< 10 ms', isMet: cached < 10 });
}

async function firstByte(bench: Bench): Promise<void> {
  const { videoDlUrl } = bench.stack;
  const streams = [
    ['MP4, passed on', 'film-720.mp4', 'mp4-720', 60],
    ['MP4, remuxed', 'film-720.mov', 'mp4-720', 60],
    ['MP4, made by ffmpeg', 'film-720.mkv', 'mp4-720', null],
    ['MP3', 'film-720.mp4', 'mp3', null],
  ] as const;
  for (const [name, media, target, goalMs] of streams) {
    const uncached = await medianOf(repeat(12), () =>
      timeFirstByte(streamUrl(videoDlUrl, newPage(bench, media), target)),
    );
    const known = newPage(bench, media);
    await timeAnswer(infoUrl(videoDlUrl, known));
    const cached = await medianOf(repeat(12), () => timeFirstByte(streamUrl(videoDlUrl, known, target)));
    const isFast = goalMs === null || cached <= goalMs;
    bench.add({
      what: `(c) first byte of ${name}, uncached`,
      value: ms(uncached),
      reference: `page known: ${ms(cached)}`,
      goal: `< 400 ms${goalMs === null ? '' : `; known ≤ ${goalMs} ms`}`,
      isMet: uncached < 400 && isFast,
    });
  }
}

async function throughput(bench: Bench): Promise<void> {
  await passedOn(bench);
  for (const [how, media, goal] of [
    ['remuxed', 'long.mov', 0.7],
    ['made by ffmpeg', 'long.mkv', 0.6],
  ] as const) {
    const film = { media, target: 'mp4-1080', args: bareFfmpeg.mp4 } as const;
    await compare(bench, { what: `MP4 of 300 MB, ${how}, loopback speed`, goal, ...film });
    for (const [speed, rate] of [
      ['4 Gbit/s', 500_000_000],
      ['1 Gbit/s', 125_000_000],
    ] as const) {
      const what = `MP4 of 300 MB, ${how}, ${speed} upstream`;
      await compare(bench, { what, query: `&rate=${rate}`, goal: 0.9, ...film });
    }
  }
  await compare(bench, {
    what: 'HLS of 300 MB, made by ffmpeg, loopback speed',
    media: 'long-hls/index.m3u8',
    target: 'mp4-1080',
    args: bareFfmpeg.hls,
  });
}

/**
 * Compares the site's own file with ffmpeg's conversion, and with the minimum that Node needs
 * to forward bytes.
 */
async function passedOn(bench: Bench): Promise<void> {
  const { site, stack } = bench;
  await using proxy = await startPlainProxy();
  const known = newPage(bench, 'long.mp4');
  await timeAnswer(infoUrl(stack.videoDlUrl, known));
  const file = site.url('/long.mp4');
  const measured = await inTurn(repeat(8), {
    ours: () => timeDownload(streamUrl(stack.videoDlUrl, known, 'mp4-1080')),
    ffmpeg: () => timeBareFfmpeg(file, bareFfmpeg.mp4),
    proxy: () => timeDownload(`${proxy.url}/?url=${encodeURIComponent(file)}`),
  });
  const best = { ours: Math.min(...measured.ours), proxy: Math.min(...measured.proxy) };
  const ffmpeg = Math.min(...measured.ffmpeg);
  const what = '(d) MP4 of 300 MB, passed on, loopback speed';
  const value = ms(best.ours);
  bench.add({
    what,
    value,
    reference: `bare ffmpeg: ${ms(ffmpeg)}`,
    ratio: times(ffmpeg / best.ours),
    goal: '≥ 0.9 ×',
    isMet: ffmpeg / best.ours >= 0.9,
  });
  bench.add({
    what,
    value,
    reference: `a plain Node proxy: ${ms(best.proxy)}`,
    ratio: times(best.proxy / best.ours),
  });
}

async function sound(bench: Bench): Promise<void> {
  const what = 'MP3 of 10 minutes';
  await compare(bench, { what, media: 'long.m4a', args: bareFfmpeg.mp3, target: 'mp3', goal: 0.95 }, '(e)');
}

interface Comparison {
  readonly what: string;
  readonly media: string;
  readonly query?: string;
  readonly target: 'mp3' | 'mp4-1080';
  /** Of ffmpeg, for the same result. */
  readonly args: readonly string[];
  /** Of bare ffmpeg's speed. */
  readonly goal?: number;
}

/** The best of each: what else the machine does only ever adds. */
async function compare(bench: Bench, comparison: Comparison, letter = '(d)'): Promise<void> {
  const { what, media, query = '', target, args, goal } = comparison;
  const { site, stack } = bench;
  const known = newPage(bench, media, query);
  await timeAnswer(infoUrl(stack.videoDlUrl, known));
  const measured = await inTurn(repeat(5), {
    bare: () => timeBareFfmpeg(site.url(`/${media}${query.replace('&', '?')}`), args),
    ours: () => timeDownload(streamUrl(stack.videoDlUrl, known, target)),
  });
  const [bare, ours] = [Math.min(...measured.bare), Math.min(...measured.ours)];
  const ratio = bare / ours;
  bench.add({
    what: `${letter} ${what}`,
    value: ms(ours),
    reference: `bare ffmpeg: ${ms(bare)}`,
    ratio: times(ratio),
    ...(goal !== undefined && { goal: `≥ ${goal} ×`, isMet: ratio >= goal }),
  });
}

async function memory(bench: Bench): Promise<void> {
  const seconds = options.quick ? 10 : 40;
  let alone: number | undefined;
  for (const clients of [1, 10, 30]) {
    const page = newPage(bench, 'long.mkv');
    const run = await holdStreams({ ...bench, page, clients, bytesPerSecond: 500_000, seconds });
    const each = alone === undefined ? undefined : (run.mean - alone) / (clients - 1);
    alone ??= run.mean;
    bench.add({
      what: `(f) Node memory, ${clients} slow client${clients === 1 ? '' : 's'}`,
      value: mb(run.mean),
      reference: `upstream ahead of a client: ${mb(run.aheadPerStream)}`,
      ...(each !== undefined && {
        ratio: `${mb(each)} a stream`,
        goal: '≤ 4 MB a stream',
        isMet: each <= 4e6,
      }),
    });
  }
}

async function soak(bench: Bench, minutes: number): Promise<void> {
  const run = await holdStreams({
    ...bench,
    page: newPage(bench, 'long.mkv'),
    clients: 1,
    bytesPerSecond: 1_000_000,
    seconds: minutes * 60,
  });
  bench.add({
    what: `one client at 1 MB/s for ${minutes} minutes`,
    value: mb(run.mean),
    reference: `growth ${mb(run.growthPerMinute)} a minute; upstream ahead: ${mb(run.aheadPerStream)}`,
    goal: 'flat',
    isMet: Math.abs(run.growthPerMinute) < 1e6 && run.broken === 0,
  });
}

/** What the table's rows mean. */
function notes(): string {
  return `Times are medians, in (d) and (e) the best of those measured in turn. Bare ffmpeg writes into a pipe, as the service's has to. What is passed on is the site's own file; what is remuxed is the same film as QuickTime, and what ffmpeg makes is the same film as Matroska.

(d) At loopback speed the processor is the limit, which media server, service, ffmpeg and client share. Below that speed the network decides.

(f) Each client reads 500 kB/s. What upstream is ahead of a client lies in the kernel's socket buffers and in the fragment that ffmpeg fills; it does not grow. \`npm run bench -- video --soak 30\` (one client, 1 MB/s, thirty minutes): 119.5 MB, growth 0.0 MB a minute, upstream 21.7 MB ahead.`;
}
