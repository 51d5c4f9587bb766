import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { atNight } from '../../vitest/at-night.js';

const figures = z.object({
  mae: z.number(),
  iou: z.number(),
  colour: z.number().nullable(),
  grad: z.number(),
});
const table = z.record(z.string(), z.record(z.string(), figures));
type Table = z.output<typeof table>;

/** The hardest edges. The others are measured at night. */
const groups = [
  'hair',
  'finished',
  ...atNight(['tight', 'solid', 'holes', 'thin', 'creature', 'soft', 'translucent']),
];
const measuredOf = (...names: string[]) => names.filter((name) => groups.includes(name));

const harness = path.resolve(import.meta.dirname, '../dist/matting.js');

/**
 * Runs the quality harness with the real model, in the precision that this processor takes,
 * on a small generated scene of these groups; its gate compares with the stored figures.
 */
async function measure(): Promise<{ measured: Table; worse: string[] }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'matting-'));
  const file = path.join(folder, 'figures.json');
  try {
    const args = [harness, '--small', '--gate', '--json', file, '--groups', groups.join(',')];
    const { stderr, exitCode } = await execa(process.execPath, args, { reject: false });
    const worse = stderr.split('\n').filter((line) => line.startsWith('worse:'));
    if (exitCode !== 0 && worse.length === 0) throw new Error(`the harness failed: ${stderr}`);
    return { measured: table.parse(JSON.parse(await readFile(file, 'utf8'))), worse };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('quality of the mattes with the real model', () => {
  let measured: Table;
  let worse: string[];
  beforeAll(async () => {
    ({ measured, worse } = await measure());
  });

  test('no metric is more than 3 % worse than the stored one', () => {
    expect(worse).toEqual([]);
    expect(Object.keys(measured).toSorted()).toEqual(groups.toSorted());
  });

  test.each(measuredOf('solid', 'hair', 'holes'))('%s: every step improves the result', (group) => {
    const of = (step: string) => figures.parse(measured[group]?.[step]);
    const colourOf = (step: string) => of(step).colour ?? Number.NaN;
    expect(of('refined').mae).toBeLessThanOrEqual(of('bare').mae);
    expect(of('refined').grad).toBeLessThan(of('bare').grad);
    expect(of('refined + colour + alpha').mae).toBeLessThanOrEqual(of('refined + colour').mae);
    expect(colourOf('refined + colour + alpha')).toBeLessThan(colourOf('refined + colour'));
    expect(colourOf('exact matte + colour')).toBeLessThan(colourOf('exact matte') * 0.6);
  });

  test.each(measuredOf('solid', 'hair', 'holes', 'thin'))(
    '%s: the default tuning does not undo the colours',
    (group) => {
      const colourOf = (step: string) => figures.parse(measured[group]?.[step]).colour ?? Number.NaN;
      // Threshold and feather change alpha itself, so that only a truth tuned alike can be compared with.
      expect(colourOf('as served, truth tuned alike')).toBeLessThanOrEqual(
        colourOf('refined + colour + alpha') * 1.1,
      );
    },
  );
});
