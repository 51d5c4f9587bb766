/**
 * Measures video-dl against the tools it stands in for, on loopback.
 *
 *   pnpm bench:video            everything, about five minutes
 *   pnpm bench:video --quick    fewer repetitions
 *   pnpm bench:video --keep     also writes the result into docs/benchmarks.md
 *   pnpm bench:video --soak 30  only: one stream of so many minutes to a client that reads at 1 MB/s
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { keep, machine, mb, ms, notes, renderTable, times } from './video/report.mjs';
import { makeMedia } from './video/media.mjs';
import { medianOf, timeAnswer, timeDownload, timeFirstByte } from './video/measure.mjs';
import { holdStreams } from './video/memory.mjs';
import { startOrigin, startService, timeCommand } from './video/processes.mjs';
import { engineVersions, pythonOf } from './video/versions.mjs';

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, keep: { type: 'boolean' }, soak: { type: 'string' } },
});
const repeat = (many) => (options.quick ? Math.max(1, Math.ceil(many / 4)) : many);
const load = loadavg()[0];
const { large } = await makeMedia({ largeBytes: options.soak ? Number(options.soak) * 60e6 * 1.1 : 300e6 });
const python = await pythonOf();

const origin = await startOrigin();
const service = await startService(origin.host, { YTDLP_PYTHON: python });
let counter = 0;
const page = (media) => `${origin.url}/watch?media=${encodeURIComponent(media)}&n=${(counter += 1)}`;
const rows = [];
const add = (row) => {
  rows.push(row);
  console.log(`${row.what}: ${row.value}${row.ratio ? ` (${row.ratio})` : ''}`);
};

try {
  await main();
} finally {
  await service[Symbol.asyncDispose]();
  await origin[Symbol.asyncDispose]();
}

async function main() {
  if (options.soak) await soak(Number(options.soak));
  else {
    await info();
    await firstByte();
    await throughput();
    await memory();
  }
  const ranOn = machine({ ...(await engineVersions(service.url)), load });
  const table = renderTable(rows);
  console.log(`\n${ranOn}\n\n${table}`);
  if (options.keep) {
    await keep(
      'bench:video',
      `## video-dl\n\n\`pnpm bench:video\` on ${ranOn}. The media server, the service, ffmpeg and the client share the machine.\n\n${table}\n\n${notes}`,
    );
  }
}

async function info() {
  const command = await medianOf(repeat(4), () =>
    timeCommand(python, ['-m', 'yt_dlp', '--ignore-config', '--no-cache-dir', '-J', page('short.mp4')]),
  );
  const uncached = await medianOf(repeat(20), () => timeAnswer(service.infoUrl(page('short.mp4'))));
  const known = page('short.mp4');
  await timeAnswer(service.infoUrl(known));
  const cached = await medianOf(repeat(200), () => timeAnswer(service.infoUrl(known)));
  const faster = command / uncached;
  add({
    ...{ what: '(a) /api/info, uncached', value: ms(uncached), reference: `\`yt-dlp -J\`: ${ms(command)}` },
    ...{ ratio: times(faster), goal: '≥ 10 ×', isMet: faster >= 10 },
  });
  add({ what: '(b) /api/info, cached', value: ms(cached), goal: '< 10 ms', isMet: cached < 10 });
}

async function firstByte() {
  for (const [name, target] of Object.entries({ MP4: 'mp4-720', MP3: 'mp3' })) {
    const uncached = await medianOf(repeat(12), () =>
      timeFirstByte(service.streamUrl(page('short.mp4'), target)),
    );
    const known = page('short.mp4');
    await timeAnswer(service.infoUrl(known));
    const cached = await medianOf(repeat(12), () => timeFirstByte(service.streamUrl(known, target)));
    add({
      ...{
        what: `(c) first byte of ${name}, uncached`,
        value: ms(uncached),
        goal: '< 400 ms',
        isMet: uncached < 400,
      },
      reference: `page known: ${ms(cached)}`,
    });
  }
}

/** Bare ffmpeg reads the same address and hands its output to a pipe, as the service's has to. */
async function throughput() {
  const fragmented = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof+delay_moov', '-f', 'mp4'];
  const mp3 = ['-vn', '-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3'];
  const copy = ['-c', 'copy', ...fragmented];
  await compare('(d) MP4 of 300 MB, loopback speed', large, 'mp4-1080', copy, 0.8);
  await compare('(d) MP4 of 300 MB, 4 Gbit/s upstream', `${large}?rate=500000000`, 'mp4-1080', copy, 0.8);
  await compare('(d) MP4 of 300 MB, 1 Gbit/s upstream', `${large}?rate=125000000`, 'mp4-1080', copy, 0.8);
  await compare('(e) MP3 of 10 minutes', 'sound.m4a', 'mp3', mp3, 0.95);
}

async function compare(what, media, target, args, goal) {
  const address = `${origin.url}/media/${media}`;
  const command = ['ffmpeg', '-v', 'error', '-nostdin', '-i', address, ...args, 'pipe:1'].join(' ');
  const known = page(media);
  await timeAnswer(service.infoUrl(known));
  const pairs = [];
  for (let index = 0; index < repeat(5); index += 1) {
    const bare = await timeCommand('sh', ['-c', `${command} | cat > /dev/null`]);
    pairs.push({ bare, ours: await timeDownload(service.streamUrl(known, target)) });
  }
  // The best of each: what else the machine does only ever adds.
  const bare = Math.min(...pairs.map((pair) => pair.bare));
  const ours = Math.min(...pairs.map((pair) => pair.ours));
  const ratio = bare / ours;
  add({
    ...{ what, value: ms(ours), reference: `bare ffmpeg: ${ms(bare)}`, ratio: times(ratio) },
    ...{ goal: `≥ ${goal} ×`, isMet: ratio >= goal },
  });
}

async function memory() {
  const bytesPerSecond = 500_000;
  const seconds = options.quick ? 10 : 40;
  const held = [];
  for (const clients of [1, 10, 30]) {
    held.push(await holdStreams({ service, origin, page: page(large), clients, bytesPerSecond, seconds }));
  }
  const [one] = held;
  for (const run of held) {
    const each = run.clients === 1 ? undefined : (run.mean - one.mean) / (run.clients - 1);
    add({
      what: `(f) Node memory, ${run.clients} slow client${run.clients === 1 ? '' : 's'}`,
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

async function soak(minutes) {
  const run = await holdStreams({
    ...{ service, origin, page: page(large), clients: 1 },
    ...{ bytesPerSecond: 1_000_000, seconds: minutes * 60 },
  });
  add({
    what: `one client at 1 MB/s for ${minutes} minutes`,
    value: mb(run.mean),
    reference: `growth ${mb(run.growthPerMinute)} a minute; upstream ahead: ${mb(run.aheadPerStream)}`,
    goal: 'flat',
    isMet: Math.abs(run.growthPerMinute) < 1e6 && run.broken === 0,
  });
}
