import { median } from './statistics.mjs';

/** @typedef {Awaited<ReturnType<typeof import('./turns.mjs').takeTurns>>} Runs */

/**
 * The median of each contender's runs on each picture, and how many times as long as the runs
 * of `own` they are: the median of the rounds' ratios, so that a busy minute weighs on both sides.
 * @param {Runs} runs
 * @param {import('./turns.mjs').Contender} own
 */
export function speedsOf(runs, own) {
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

/** @param {readonly Readonly<Record<string, number>>[]} runs */
function medianStages(runs) {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(runs.map((run) => run[name] ?? 0))]));
}

/**
 * A table in Markdown.
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number)[])[]} rows
 */
export function markdownTable(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
