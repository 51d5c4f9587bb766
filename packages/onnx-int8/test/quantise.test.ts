import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { equaliseChannels, sharedScales } from '../src/equalise.js';
import { fixInputSize } from '../src/fixed-size.js';
import { decodeModel, encodeModel, type OnnxModel } from '../src/onnx-schema.js';
import { quantiseGraph } from '../src/quantise.js';
import { type ChannelMagnitudes, exposeActivations, MagnitudeMeter } from '../src/magnitude-meter.js';
import { seededNumbers, smallNetwork } from './support/small-network.js';

const outputsSchema = z.record(z.string(), z.array(z.number()));

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

async function measuredMagnitudes(
  size: number,
  network: (size: number) => OnnxModel = smallNetwork,
): Promise<ChannelMagnitudes> {
  const exposed = network(size);
  const channels = channelCounts(exposed);
  const tensors = exposeActivations(exposed);
  const meter = new MagnitudeMeter();
  for (const seed of [1, 2, 3]) {
    const outputs = await runGraph(exposed, planes(picture(size, seed)));
    for (const tensor of tensors) {
      meter.add(tensor, Float32Array.from(outputs[tensor] ?? []), channels.get(tensor) ?? NaN);
    }
  }
  return meter.magnitudes();
}

/** Counts the channels of all activations, using a copy with a fixed size. */
function channelCounts(model: OnnxModel): Map<string, number> {
  const shapes = fixInputSize(decodeModel(encodeModel(model)), { width: 32, height: 32 });
  return new Map([...shapes].map(([name, { channels }]) => [name, channels]));
}

function meanDifference(a: readonly number[] = [], b: readonly number[] = []): number {
  expect(a.length).toBe(b.length);
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? NaN)), 0) / a.length;
}

test('the int8 network gives nearly the same mask, directly from pixels', async () => {
  const size = 32;
  const rgb = picture(size, 99);
  const exact = await runGraph(smallNetwork(size), planes(rgb));
  const quantised = await runGraph(
    quantiseGraph(smallNetwork(size), await measuredMagnitudes(size), { width: size, height: size }),
    rgb,
  );
  expect(quantised['output']).toHaveLength(size * size);
  expect(meanDifference(quantised['output'], exact['output'])).toBeLessThan(0.01);
  // Finer than the 256 steps of one byte, because the copies of the last layer differ.
  expect(new Set(quantised['output']).size).toBeGreaterThan(256);
});

/** A network with hard edges: its logits exceed ±6, while {@link smallNetwork} is uncertain everywhere. */
function confidentNetwork(size: number): OnnxModel {
  const model = smallNetwork(size);
  const last = model.graph.node.findLast(({ opType }) => opType === 'Conv');
  for (const tensor of model.graph.initializer ?? []) {
    if (!last?.input?.slice(1).includes(tensor.name ?? '') || !tensor.rawData) continue;
    const values = new Float32Array(Uint8Array.from(tensor.rawData).buffer);
    tensor.rawData = new Uint8Array(values.map((value) => value * 15).buffer);
  }
  return model;
}

test('edges between confident regions do not move', async () => {
  const size = 32;
  const rgb = picture(size, 99);
  const { output: exact = [] } = await runGraph(confidentNetwork(size), planes(rgb));
  expect(Math.min(...exact, ...exact.map((value) => 1 - value))).toBeLessThan(0.001);
  const magnitudes = await measuredMagnitudes(size);
  const { output } = await runGraph(
    quantiseGraph(confidentNetwork(size), magnitudes, { width: size, height: size }),
    rgb,
  );
  expect(meanDifference(output, exact)).toBeLessThan(0.01);
});

/** The same function as {@link smallNetwork}, but every second channel of `a` is a sixteenth as large. */
function unevenNetwork(size: number): OnnxModel {
  const model = smallNetwork(size);
  const scale = (tensor: string, factorOf: (index: number) => number): void => {
    const found = model.graph.initializer?.find(({ name }) => name === tensor);
    const values = new Float32Array(Uint8Array.from(found?.rawData ?? []).buffer);
    expect(values.length).toBeGreaterThan(0);
    if (found) found.rawData = new Uint8Array(values.map((value, i) => value * factorOf(i)).buffer);
  };
  // 16 channels in 9 positions; `c` reads the channels of `up`, then those of `a`. Terms added to
  // `a` shrink with it.
  const factor = (channel: number): number => (channel % 2 === 0 ? 1 : 1 / 16);
  scale('a_w', (i) => factor(Math.floor(i / (9 * 8))));
  scale('a_b', factor);
  scale('b_w', (i) => 1 / factor(Math.floor(i / 9) % 16));
  scale('c_w', (i) => {
    const [reads, gives] = [Math.floor(i / 9) % 32, Math.floor(i / (9 * 32))];
    return factor(gives) / (reads < 16 ? 1 : factor(reads - 16));
  });
  scale('c_b', factor);
  scale('last_w', (i) => 1 / factor(Math.floor(i / 9)));
  return model;
}

test('channels of very different magnitude keep their precision', async () => {
  const size = 32;
  const rgb = picture(size, 99);
  const { output: exact } = await runGraph(unevenNetwork(size), planes(rgb));
  const { output: even } = await runGraph(smallNetwork(size), planes(rgb));
  expect(meanDifference(exact, even)).toBeLessThan(1e-6);
  const magnitudes = await measuredMagnitudes(size, unevenNetwork);
  const error = async (given: ChannelMagnitudes): Promise<number> => {
    const graph = quantiseGraph(unevenNetwork(size), given, { width: size, height: size });
    return meanDifference((await runGraph(graph, rgb))['output'], exact);
  };
  const largestOnly = Object.fromEntries(
    Object.entries(magnitudes).map(([name, channels]) => [name, channels.map(() => Math.max(...channels))]),
  );
  const evened = await error(magnitudes);
  expect(evened).toBeLessThan(0.01);
  expect(evened).toBeLessThan((await error(largestOnly)) / 2);
});

test('equalised channels do not change the result', async () => {
  const rgb = planes(picture(32, 5));
  const model = unevenNetwork(32);
  fixInputSize(model, { width: 32, height: 32 });
  const magnitudes = await measuredMagnitudes(32, unevenNetwork);
  const ranges = equaliseChannels(model, magnitudes, sharedScales(model.graph.node));
  // Without Relu there are values on both sides of 0.
  expect(ranges['features']?.[0]).toBeLessThan(0);
  expect(ranges['a']?.[0]).toBe(0);
  const [before, after] = [await runGraph(unevenNetwork(32), rgb), await runGraph(model, rgb)];
  expect(meanDifference(after['output'], before['output'])).toBeLessThan(1e-6);
  // The channels are in fact equalised, with headroom for images with larger values.
  exposeActivations(model);
  const { a = [] } = await runGraph(model, rgb);
  const largest = Array.from({ length: 16 }, (_, c) =>
    Math.max(...a.slice((c * a.length) / 16, ((c + 1) * a.length) / 16)),
  );
  expect(Math.max(...largest)).toBeLessThan(ranges['a']?.[1] ?? NaN);
  // The factor was 16 before, on top of natural differences.
  const smaller = largest.filter((value, c) => c % 2 === 1 && value > 0);
  expect(Math.max(...smaller)).toBeGreaterThan(Math.max(...largest) / 8);
});

test("a channel's magnitude covers all but the outliers, in four of five images", () => {
  const meter = new MagnitudeMeter();
  for (const picture of [1, 2, 3, 4, 5, 600]) {
    // Two channels; the second has an outlier in a thousand and is negative.
    const first = Array.from({ length: 1000 }, (_, i) => (picture * (i % 500)) / 499);
    const second = Array.from({ length: 1000 }, (_, i) => (i === 7 ? 1e6 : i === 8 ? -2 * picture : -0.5));
    meter.add('tensor', Float32Array.from([...first, ...second]), 2);
  }
  const [first, second] = meter.magnitudes()['tensor'] ?? [];
  expect(first).toBeCloseTo(5, 5);
  expect(second).toBe(1e6);
});

test('the same network and magnitudes always give the same bytes', async () => {
  const magnitudes = await measuredMagnitudes(32);
  const bytes = () => encodeModel(quantiseGraph(smallNetwork(), magnitudes, { width: 32, height: 32 }));
  expect(Buffer.compare(bytes(), bytes())).toBe(0);
});

test('an activation that was not measured is an error that names it', async () => {
  const magnitudes = Object.fromEntries(
    Object.entries(await measuredMagnitudes(32)).filter(([tensor]) => tensor !== 'sum'),
  );
  expect(() => quantiseGraph(smallNetwork(), magnitudes, { width: 32, height: 32 })).toThrow('sum');
});

test('an operator without an int8 form is an error that names it', async () => {
  const model = smallNetwork();
  const magnitudes = await measuredMagnitudes(32);
  for (const node of model.graph.node) if (node.opType === 'Add') node.opType = 'Mul';
  expect(() => quantiseGraph(model, magnitudes, { width: 32, height: 32 })).toThrow('Mul');
});

test('fixing the size keeps the mask and removes shape computations', async () => {
  const rgb = planes(picture(32, 5));
  const fixed = smallNetwork();
  fixInputSize(fixed, { width: 32, height: 32 });
  const operators = new Set(fixed.graph.node.map(({ opType }) => opType));
  expect([...operators].filter((name) => name === 'Shape' || name === 'Slice')).toEqual([]);
  const [before, after] = [await runGraph(smallNetwork(), rgb), await runGraph(fixed, rgb)];
  expect(meanDifference(after['output'], before['output'])).toBe(0);
});

test('a network can be fixed to another size, unless a layer would have a fractional size', async () => {
  const model = smallNetwork(32);
  fixInputSize(model, { width: 64, height: 48 });
  const { output } = await runGraph(model, planes(picture(64, 5)).slice(0, 64 * 48 * 3));
  expect(output).toHaveLength(64 * 48);
  expect(() => fixInputSize(smallNetwork(32), { width: 33, height: 32 })).toThrow(/33|16\.5/);
});

/** Runs a network in onnxruntime and returns every output. */
async function runGraph(model: OnnxModel, input: readonly number[]): Promise<Record<string, number[]>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'graph-'));
  try {
    const file = path.join(folder, 'model.onnx');
    await writeFile(file, encodeModel(model));
    const script = path.resolve(import.meta.dirname, 'fixtures/run-graph.mjs');
    const { stdout } = await execa(process.execPath, [script, file], { input: JSON.stringify(input) });
    return outputsSchema.parse(JSON.parse(stdout));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
