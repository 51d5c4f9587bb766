import { precisions } from '@media-services/bg-removal/dist/inference/choices.js';
import { z } from 'zod';
import type { Figures } from './metrics.js';

/** The relative amount by which a metric may be worse than its stored value. */
const tolerance = 0.03;
/** Smaller absolute differences count as rounding. */
const floors = { mae: 0.0001, grad: 0.0005, iou: 0.0005, colour: 0.0005 };

const figuresSchema = z.object({
  mae: z.number(),
  grad: z.number(),
  iou: z.number(),
  colour: z.number().nullable(),
});
/** Group → variant → figures. */
const groupsSchema = z.record(z.string(), z.record(z.string(), figuresSchema));
/** Precision → set of scenes → groups. */
export const baselineSchema = z.partialRecord(z.enum(precisions), z.record(z.string(), groupsSchema));
export type Baseline = z.output<typeof baselineSchema>;

export type Groups = z.output<typeof groupsSchema>;

/** The groups in their stored form: five digits, no colour if it is unknown. */
export function storedForm(groups: Readonly<Record<string, Readonly<Record<string, Figures>>>>): Groups {
  const digits = (value: number) => Number(value.toFixed(5));
  return mapValues(groups, (variants) =>
    mapValues(variants, ({ mae, grad, iou, colour }) => ({
      mae: digits(mae),
      grad: digits(grad),
      iou: digits(iou),
      colour: Number.isNaN(colour) ? null : digits(colour),
    })),
  );
}

/**
 * Every figure that is worse than its stored one by more than 3 % of it (of `1 − IoU` for the
 * IoU, which is more informative near 1). Ignores groups that weren't measured.
 * @returns one line for each; empty if none is worse
 */
export function regressions(stored: Groups, measured: Groups): string[] {
  const found: string[] = [];
  for (const [group, variants] of Object.entries(measured)) {
    for (const [variant, expected] of Object.entries(stored[group] ?? {})) {
      const actual = variants[variant];
      if (actual === undefined) {
        found.push(`${group}, ${variant}: was not measured`);
        continue;
      }
      for (const key of ['mae', 'grad', 'iou', 'colour'] as const) {
        const [before, now] = [expected[key], actual[key]];
        if (before === null || now === null) continue;
        const worse = key === 'iou' ? before - now : now - before;
        const allowed = (key === 'iou' ? 1 - before : before) * tolerance + floors[key];
        if (worse > allowed) found.push(`${group}, ${variant}: ${key} ${before} → ${now}`);
      }
    }
  }
  return found;
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
