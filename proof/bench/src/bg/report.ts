import { median } from '../statistics.js';
import type { Contender, Runs } from './turns.js';

/** The times of one contender for images of one size. */
export interface Speed {
  readonly name: string;
  readonly megapixels: number;
  readonly ms: number;
  /** Ratio to the contender that it is compared with. */
  readonly ratio: number;
  /** Milliseconds of each. */
  readonly stages: Readonly<Record<string, number>>;
}

/**
 * The median of each contender's runs for each image, and its ratio to `own`: the median of the
 * rounds' ratios, so that a busy minute affects both sides.
 */
export function speedsOf(runs: Runs, own: Contender): Speed[] {
  return [...runs].flatMap(([{ name }, byPicture]) =>
    [...byPicture].map(([picture, each]) => {
      const ours = runs.get(own)?.get(picture) ?? [];
      return {
        name,
        megapixels: picture.megapixels,
        ms: median(each.map(({ ms }) => ms)),
        ratio: median(each.map(({ ms }, round) => ms / (ours[round]?.ms ?? Number.NaN))),
        stages: medianStages(each.map(({ stages = {} }) => stages)),
      };
    }),
  );
}

function medianStages(runs: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(runs.map((run) => run[name] ?? 0))]));
}

/** A table in Markdown, its columns aligned as oxfmt does. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((cells) => cells.map(String));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)));
  lines.splice(
    1,
    0,
    widths.map((width) => '-'.repeat(width)),
  );
  return lines
    .map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`)
    .join('');
}
