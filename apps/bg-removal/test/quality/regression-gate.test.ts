import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const figures = z.object({ mae: z.number(), iou: z.number(), colour: z.number(), grad: z.number() });
const table = z.record(z.string(), z.record(z.string(), figures));
type Table = z.output<typeof table>;

const bench = path.resolve(import.meta.dirname, '../../../../bench');

/** Runs the quality harness with the real model on a few generated scenes. */
async function measure(groups: readonly string[]): Promise<Table> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'matting-'));
  const file = path.join(folder, 'figures.json');
  const args = [path.join(bench, 'matting.mjs'), '--small', '--groups', groups.join(','), '--json', file];
  try {
    await promisify(execFile)(process.execPath, args);
    return table.parse(JSON.parse(await readFile(file, 'utf8')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What other processors may round differently. */
const tolerance = { mae: 0.0015, iou: 0.01, colour: 0.01, grad: 0.01 };

describe('quality of the mattes with the real model', () => {
  let baseline: Table;
  let measured: Table;
  beforeAll(async () => {
    baseline = table.parse(JSON.parse(await readFile(path.join(bench, 'matting', 'baseline.json'), 'utf8')));
    measured = await measure(Object.keys(baseline));
  }, 300_000);

  test.each(['solid', 'hair', 'holes'])('%s is not worse than the stored figures', (group) => {
    for (const [step, expected] of Object.entries(baseline[group] ?? {})) {
      const actual = figures.parse(measured[group]?.[step]);
      expect(actual.mae).toBeLessThanOrEqual(expected.mae + tolerance.mae);
      expect(actual.grad).toBeLessThanOrEqual(expected.grad * 1.1 + tolerance.grad);
      expect(actual.colour).toBeLessThanOrEqual(expected.colour + tolerance.colour);
      expect(actual.iou).toBeGreaterThanOrEqual(expected.iou - tolerance.iou);
    }
  });

  test.each(['solid', 'hair', 'holes'])('%s: every step earns its place', (group) => {
    const of = (step: string) => figures.parse(measured[group]?.[step]);
    expect(of('refined').mae).toBeLessThanOrEqual(of('bare').mae);
    expect(of('refined').grad).toBeLessThan(of('bare').grad);
    expect(of('refined + colour + alpha').mae).toBeLessThanOrEqual(of('refined + colour').mae);
    expect(of('refined + colour + alpha').colour).toBeLessThan(of('refined + colour').colour);
    expect(of('exact matte + colour').colour).toBeLessThan(of('exact matte').colour * 0.6);
  });
});
