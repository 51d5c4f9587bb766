import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from '@media-services/stack/set-up';
import { z } from 'zod';

export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const mb = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
export const times = (value: number): string => `${value < 10 ? value.toFixed(2) : Math.round(value)} ×`;

/** One line of a table. */
export interface Row {
  /** What was measured. */
  readonly what: string;
  readonly value: string;
  /** What it's compared with. */
  readonly reference?: string;
  readonly ratio?: string;
  readonly goal?: string;
  readonly isMet?: boolean;
}

/** @param subject whose values they are */
export function renderTable(rows: readonly Row[], subject: string): string {
  const cells = rows.map(({ what, value, reference = '', ratio = '', goal = '', isMet }) => [
    ...[what, value, reference, ratio, goal],
    isMet === undefined ? '' : isMet ? 'yes' : 'NO',
  ]);
  const head = ['', subject, 'compared with', 'ratio', 'goal', 'met'];
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

const healthSchema = z.object({
  checks: z.object({
    downloadEngine: z.object({ version: z.string() }),
    muxingEngine: z.object({ version: z.string() }),
  }),
});

/** Describes the machine. @param load average before the run */
export async function machine(videoDlUrl: string, load: number): Promise<string> {
  const response = await fetch(`${videoDlUrl}/api/health`);
  const { downloadEngine, muxingEngine } = healthSchema.parse(await response.json()).checks;
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.version}, ffmpeg ${muxingEngine.version}, yt-dlp ${downloadEngine.version}; load before: ${load.toFixed(1)}`;
}

/** Replaces a benchmark's section, between its markers, in a document of the repository. */
export async function keep(
  benchmark: string,
  section: string,
  file = 'docs/internals/benchmarks.md',
): Promise<void> {
  const document = join(root, file);
  const [begin, end] = [`<!-- ${benchmark} -->`, `<!-- /${benchmark} -->`];
  const text = await readFile(document, 'utf8');
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${document} has no place for ${begin}.`);
  await writeFile(document, `${before}${begin}\n\n${section}\n\n${end}${after}`);
}
