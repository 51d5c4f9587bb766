import { markdownTable } from '../bg/report.js';
import type { Baseline } from './gate.js';

/** The rows of a group: variants of the pipeline, with what the table calls them. The baseline has more. */
const rows = {
  'refined + colour + alpha': 'neutral',
  'as served': 'default',
} as const;
const columns = [
  ['mae', 4],
  ['grad', 4],
  ['iou', 3],
  ['colour', 4],
] as const;

/** The stored figures of a set of scenes in Markdown: fp32 → int8, or int8 alone where fp32 was not measured. */
export function qualityTable({ fp32 = {}, int8 = {} }: Baseline, set: string): string {
  const lines = Object.entries(int8[set] ?? {}).flatMap(([group, variants]) =>
    Object.entries(rows).flatMap(([variant, tuning]) => {
      const now = variants[variant];
      if (now === undefined) return [];
      const before = fp32[set]?.[group]?.[variant];
      const cells = columns.map(([key, digits]) =>
        before === undefined ? (now[key]?.toFixed(digits) ?? '–') : compared(before[key], now[key], digits),
      );
      return [[group, tuning, ...cells]];
    }),
  );
  return markdownTable(['group', 'tuning', 'MAE', 'gradient/1000', 'IoU', 'colour error'], lines);
}

function compared(before: number | null, now: number | null, digits: number): string {
  if (before === null || now === null) return '–';
  const change = before === 0 ? 0 : (now / before - 1) * 100;
  const sign = change > 0 ? '+' : change < 0 ? '−' : '';
  return `${before.toFixed(digits)} → ${now.toFixed(digits)} (${sign}${Math.abs(change).toFixed(1)} %)`;
}
