import { fixInputSize } from '../dist/graph/fixed-size.js';
import { encodeModel, type OnnxModel } from '../dist/graph/onnx-schema.js';
import { quantiseGraph } from '../dist/graph/quantise.js';
import { exposeActivations, RangeMeter } from '../dist/graph/range-meter.js';
import type { ActivationRanges } from '../dist/graph/activation-ranges.js';
import { runGraph } from './support/run-graph.js';
import { seededNumbers, smallNetwork } from './support/small-network.js';

/** RGB bytes: a bright disc on a dark ramp, with noise. */
function picture(size: number, seed: number): number[] {
  const random = seededNumbers(seed);
  return Array.from({ length: size * size * 3 }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % size, Math.floor(i / 3 / size)];
    const inside = Math.hypot(x - size / 2, y - size / 2) < size / 3;
    return Math.round(Math.max(0, Math.min(255, (inside ? 190 : 20 + x) + random() * 30)));
  });
}

/** The single-precision network's input: planes of `value / 255 - 0.5`. */
function planes(rgb: readonly number[]): number[] {
  return [0, 1, 2].flatMap((c) => rgb.filter((_, i) => i % 3 === c).map((value) => value / 255 - 0.5));
}

async function measuredRanges(size: number): Promise<ActivationRanges> {
  const tapped = smallNetwork(size);
  const tensors = exposeActivations(tapped);
  const meter = new RangeMeter();
  for (const seed of [1, 2, 3]) {
    const outputs = await runGraph(tapped, planes(picture(size, seed)));
    for (const tensor of tensors) meter.add(tensor, Float32Array.from(outputs[tensor] ?? []));
  }
  return meter.ranges();
}

function meanDifference(a: readonly number[] = [], b: readonly number[] = []): number {
  expect(a.length).toBe(b.length);
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? NaN)), 0) / a.length;
}

test('eight bits give nearly the same mask from the pixels themselves', async () => {
  const size = 32;
  const rgb = picture(size, 99);
  const exact = await runGraph(smallNetwork(size), planes(rgb));
  const quantised = await runGraph(
    quantiseGraph(smallNetwork(size), await measuredRanges(size), { width: size, height: size }),
    rgb,
  );
  expect(quantised['output']).toHaveLength(size * size);
  expect(meanDifference(quantised['output'], exact['output'])).toBeLessThan(0.01);
  // Much finer than the 256 steps of one byte: the copies of the last layer differ.
  expect(new Set(quantised['output']).size).toBeGreaterThan(256);
});

/** With hard edges: logits beyond ±6, where {@link smallNetwork} is unsure everywhere. */
function decidedNetwork(size: number): OnnxModel {
  const model = smallNetwork(size);
  const last = model.graph.node.findLast(({ opType }) => opType === 'Conv');
  for (const tensor of model.graph.initializer ?? []) {
    if (!last?.input?.slice(1).includes(tensor.name ?? '') || !tensor.rawData) continue;
    const values = new Float32Array(Uint8Array.from(tensor.rawData).buffer);
    tensor.rawData = new Uint8Array(values.map((value) => value * 15).buffer);
  }
  return model;
}

test('edges between sure decisions stay where they are', async () => {
  const size = 32;
  const rgb = picture(size, 99);
  const { output: exact = [] } = await runGraph(decidedNetwork(size), planes(rgb));
  expect(Math.min(...exact, ...exact.map((value) => 1 - value))).toBeLessThan(0.001);
  const ranges = await measuredRanges(size);
  const { output } = await runGraph(
    quantiseGraph(decidedNetwork(size), ranges, { width: size, height: size }),
    rgb,
  );
  expect(meanDifference(output, exact)).toBeLessThan(0.01);
});

test('a range leaves room for pictures that reach further than those that were measured', () => {
  const meter = new RangeMeter();
  meter.add(
    'tensor',
    Float32Array.from({ length: 50_000 }, (_, i) => i / 50_000),
  );
  const [low, high] = meter.ranges()['tensor'] ?? [];
  expect(low).toBe(0);
  expect(high).toBeGreaterThan(1.2);
  expect(high).toBeLessThan(1.3);
});

test('the same network and ranges always give the same bytes', async () => {
  const ranges = await measuredRanges(32);
  const bytes = () => encodeModel(quantiseGraph(smallNetwork(), ranges, { width: 32, height: 32 }));
  expect(Buffer.compare(bytes(), bytes())).toBe(0);
});

test('an activation that was not measured is an error that names it', async () => {
  const ranges = Object.fromEntries(
    Object.entries(await measuredRanges(32)).filter(([tensor]) => tensor !== 'sum'),
  );
  expect(() => quantiseGraph(smallNetwork(), ranges, { width: 32, height: 32 })).toThrow('sum');
});

test('an operator without an eight-bit form is an error that names it', async () => {
  const model = smallNetwork();
  const ranges = await measuredRanges(32);
  for (const node of model.graph.node) if (node.opType === 'Add') node.opType = 'Mul';
  expect(() => quantiseGraph(model, ranges, { width: 32, height: 32 })).toThrow('Mul');
});

test('with sizes fixed, the mask is what it was and no shape is computed any more', async () => {
  const rgb = planes(picture(32, 5));
  const fixed = smallNetwork();
  fixInputSize(fixed, { width: 32, height: 32 });
  const operators = new Set(fixed.graph.node.map(({ opType }) => opType));
  expect([...operators].filter((name) => name === 'Shape' || name === 'Slice')).toEqual([]);
  const [before, after] = [await runGraph(smallNetwork(), rgb), await runGraph(fixed, rgb)];
  expect(meanDifference(after['output'], before['output'])).toBe(0);
});

test('a network can be fixed to another size, unless a part of it would not be whole', async () => {
  const model = smallNetwork(32);
  fixInputSize(model, { width: 64, height: 48 });
  const { output } = await runGraph(model, planes(picture(64, 5)).slice(0, 64 * 48 * 3));
  expect(output).toHaveLength(64 * 48);
  expect(() => fixInputSize(smallNetwork(32), { width: 33, height: 32 })).toThrow(/33|16\.5/);
});
