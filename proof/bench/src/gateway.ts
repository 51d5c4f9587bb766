/**
 * Measures what the gateway adds, with both services behind it, on loopback.
 *
 *   npm run bench -- gateway          about two minutes
 *   npm run bench -- gateway --keep   also writes the result into docs/internals/benchmarks.md
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startSampleSite, type SampleSite } from '@media-services/fault-site';
import { findNginx } from '@media-services/stack/set-up';
import { inTurn, timeAnswer, timeDownload } from './measure.js';
import { infoUrl, startMeasuredStack, streamUrl, type MeasuredStack } from './measured-stack.js';
import { benchMedia } from './media.js';
import { keep, machine, ms, renderTable, times, type Row } from './report.js';
import { median } from './statistics.js';

const { values: options } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const load = loadavg()[0] ?? 0;
const folder = await benchMedia(300e6);

{
  await using site = await startSampleSite(folder);
  await using stack = await startMeasuredStack(site);
  const rows = [
    ...(await health(stack)),
    await download(stack, site, {
      what: 'passed on, 1 Gbit/s upstream',
      media: 'long.mp4',
      rate: 125_000_000,
    }),
    await download(stack, site, { what: 'passed on, loopback speed', media: 'long.mp4' }),
    await download(stack, site, {
      what: 'made by ffmpeg, 2.5 Gbit/s upstream',
      media: 'long.mkv',
      rate: 312_500_000,
    }),
    await download(stack, site, { what: 'made by ffmpeg, loopback speed', media: 'long.mkv' }),
  ];
  const ranOn = await machine(stack.videoDlUrl, load);
  const table = renderTable(rows, 'through the gateway');
  process.stdout.write(`\n${ranOn}\n\n${table}\n`);
  if (options.keep) {
    const { version = 'unknown' } = findNginx(process.env);
    await keep(
      'bench:gateway',
      `## Gateway\n\n\`npm run bench -- gateway\` on ${ranOn}; nginx ${version}. Everything shares the machine. Requests go direct and through the gateway in turn; health is the median of 500, MP4 the best of five.\n\n${table}`,
    );
  }
}

async function health({ videoDlUrl, gatewayUrl }: MeasuredStack): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, path] of [
    ['health of one service', '/video-dl/api/health'],
    ['health of both, merged', '/api/health'],
  ] as const) {
    const runs = {
      direct: () => timeAnswer(`${videoDlUrl}/api/health`),
      through: () => timeAnswer(`${gatewayUrl}${path}`),
    };
    await inTurn(50, runs);
    const measured = await inTurn(500, runs);
    const [direct, through] = [median(measured.direct), median(measured.through)];
    rows.push({
      what,
      value: `${through.toFixed(2)} ms`,
      reference: `direct: ${direct.toFixed(2)} ms`,
      ratio: `+ ${(through - direct).toFixed(2)} ms`,
      goal: '< 1 ms more',
      isMet: through - direct < 1,
    });
  }
  return rows;
}

async function download(
  { videoDlUrl, gatewayUrl }: MeasuredStack,
  site: SampleSite,
  { what, media, rate }: { what: string; media: string; rate?: number },
): Promise<Row> {
  const page = site.url(`/watch?media=${media}${rate === undefined ? '' : `&rate=${rate}`}`);
  await timeAnswer(infoUrl(videoDlUrl, page));
  const measured = await inTurn(5, {
    direct: () => timeDownload(streamUrl(videoDlUrl, page, 'mp4-1080')),
    through: () => timeDownload(streamUrl(gatewayUrl, page, 'mp4-1080')),
  });
  const [direct, through] = [Math.min(...measured.direct), Math.min(...measured.through)];
  const ratio = direct / through;
  return {
    what: `MP4 of 300 MB, ${what}`,
    value: ms(through),
    reference: `direct: ${ms(direct)}`,
    ratio: times(ratio),
    goal: '≥ 0.9 ×',
    isMet: ratio >= 0.9,
  };
}
