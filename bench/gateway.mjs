/**
 * Measures what the gateway adds, with both services behind it, on loopback.
 *
 *   pnpm bench:gateway          about two minutes
 *   pnpm bench:gateway --keep   also writes the result into docs/benchmarks.md
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startService as startBgRemoval } from './bg/service.mjs';
import { startGateway } from './gateway/nginx.mjs';
import { makeMedia } from './video/media.mjs';
import { median, timeAnswer, timeDownload } from './video/measure.mjs';
import { startOrigin, startService } from './video/processes.mjs';
import { keep, machine, ms, renderTable, times } from './video/report.mjs';
import { engineVersions, pythonOf } from './video/versions.mjs';

const { values: options } = parseArgs({ options: { keep: { type: 'boolean' } } });
const load = loadavg()[0];
const { large } = await makeMedia({ largeBytes: 300e6 });
const rows = [];
/** In the order of their start. */
const started = [];
const start = async (starting) => {
  const part = await starting;
  started.push(part);
  return part;
};
let origin, videoDl, gateway;

try {
  origin = await start(startOrigin());
  videoDl = await start(startService(origin.host, { YTDLP_PYTHON: await pythonOf() }));
  const bgRemoval = await start(startBgRemoval());
  gateway = await start(startGateway({ videoDl: videoDl.url, bgRemoval: bgRemoval.url }));
  await health();
  await throughput('1 Gbit/s upstream', `${large}?rate=125000000`);
  await throughput('2.5 Gbit/s upstream', `${large}?rate=312500000`);
  await throughput('loopback speed', large);
  const ranOn = machine({ ...(await engineVersions(videoDl.url)), load });
  const table = renderTable(rows, 'through the gateway');
  console.log(`\n${ranOn}\n\n${table}`);
  if (options.keep) {
    await keep(
      'bench:gateway',
      `## Gateway\n\n\`pnpm bench:gateway\` on ${ranOn}; nginx ${gateway.version}. Everything shares the machine. Requests go direct and through the gateway in turn; health is the median of 500, MP4 the best of five.\n\n${table}`,
    );
  }
} finally {
  for (const part of started.toReversed()) await (part.stop ?? part[Symbol.asyncDispose])();
}

/** Both in turn, so that what else the machine does falls on both alike. */
async function inTurn(repeat, direct, through) {
  const pairs = [];
  for (let index = 0; index < repeat; index += 1) {
    pairs.push({ direct: await direct(), through: await through() });
  }
  return { direct: pairs.map((pair) => pair.direct), through: pairs.map((pair) => pair.through) };
}

async function health() {
  const direct = () => timeAnswer(`${videoDl.url}/api/health`);
  for (const [what, path] of [
    ['health of one service', '/video-dl/api/health'],
    ['health of both, merged', '/api/health'],
  ]) {
    const through = () => timeAnswer(`${gateway.url}${path}`);
    await inTurn(50, direct, through);
    const measured = await inTurn(500, direct, through);
    const [one, other] = [median(measured.direct), median(measured.through)];
    rows.push({
      ...{ what, value: `${other.toFixed(2)} ms`, reference: `direct: ${one.toFixed(2)} ms` },
      ...{ ratio: `+ ${(other - one).toFixed(2)} ms`, goal: '< 1 ms more', isMet: other - one < 1 },
    });
  }
}

async function throughput(what, media) {
  const page = `${origin.url}/watch?media=${encodeURIComponent(media)}`;
  await timeAnswer(videoDl.infoUrl(page));
  const url = videoDl.streamUrl(page, 'mp4-1080');
  const measured = await inTurn(
    5,
    () => timeDownload(url),
    () => timeDownload(url.replace(videoDl.url, gateway.url)),
  );
  const [direct, through] = [Math.min(...measured.direct), Math.min(...measured.through)];
  const ratio = direct / through;
  rows.push({
    ...{ what: `MP4 of 300 MB, ${what}`, value: ms(through), reference: `direct: ${ms(direct)}` },
    ...{ ratio: times(ratio), goal: '≥ 0.9 ×', isMet: ratio >= 0.9 },
  });
}
