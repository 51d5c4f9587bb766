import { cpus, totalmem } from 'node:os';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const document = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));

export const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const mb = (value) => `${(value / 1e6).toFixed(1)} MB`;
export const times = (value) => `${value < 10 ? value.toFixed(2) : Math.round(value)} ×`;

/**
 * A row: what was measured, the value, what it is compared with, the ratio, the goal and whether it is met.
 * @param subject whose value it is
 */
export function renderTable(rows, subject = 'video-dl') {
  const cells = rows.map(({ what, value, reference, ratio, goal, isMet }) => [
    ...[what, value, reference ?? '', ratio ?? '', goal ?? ''],
    isMet === undefined ? '' : isMet ? 'yes' : 'NO',
  ]);
  const head = ['', subject, 'compared with', 'ratio', 'goal', 'met'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column].length), 3),
  );
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/** What it ran on. */
export function machine({ ffmpeg, ytDlp, load }) {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.version}, ffmpeg ${ffmpeg}, yt-dlp ${ytDlp}; load before: ${load.toFixed(1)}`;
}

/** Puts the section of a benchmark between its marks in docs/benchmarks.md. */
export async function keep(benchmark, section) {
  const [begin, end] = [`<!-- ${benchmark} -->`, `<!-- /${benchmark} -->`];
  const text = await readFile(document, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '# Benchmarks\n';
    throw error;
  });
  const block = `${begin}\n\n${section}\n\n${end}`;
  const marked = new RegExp(`${begin}[^]*?${end}`, 'u');
  await writeFile(
    document,
    marked.test(text) ? text.replace(marked, () => block) : `${text.trimEnd()}\n\n${block}\n`,
  );
}

/** What the table's rows mean. */
export const notes = `Times are medians, in (d) and (e) the best of five. Bare ffmpeg writes into a pipe, as the service's has to.

(d) At the speed of loopback the Node process is the limit, at about 4 Gbit/s on these two cores, which media server, ffmpeg and client share with it: it moves every byte twice, once from the media server to ffmpeg, so that the guard sees every connection and a broken one is resumed, and once from ffmpeg to the client, so that nothing incomplete ends like a success. Below that the network decides, as the other rows show.

(f) is read at 500 kB/s by each client. What upstream is ahead of a client lies in the socket buffers of the kernel and in the fragment that ffmpeg fills; it does not grow. \`pnpm bench:video --soak 30\` (one client, 1 MB/s, thirty minutes): 119.5 MB, growth 0.0 MB a minute, upstream 21.7 MB ahead.`;
