import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { logitsOf, outputOf, reluOutputs } from './nodes.js';
import { dataType, type OnnxModel } from './onnx-schema.js';

/** The share of a channel's values in one image that its magnitude covers. */
const coveredValues = 0.999;
/** The share of images that a channel's overall magnitude covers. */
const coveredImages = 0.8;
/** Values sampled per channel and image, evenly spread. */
const sampled = 16_384;

/**
 * Makes every activation that needs a scale an output of the network: the results of
 * convolutions (after their Relu, if any) and of sums, except the logits. Changes `model`.
 * @returns their names
 */
export function exposeActivations({ graph }: OnnxModel): string[] {
  const relus = reluOutputs(graph.node);
  const logits = logitsOf(graph.node);
  const names = graph.node
    .filter(({ opType }) => opType === 'Conv' || opType === 'Add')
    .map((node) => relus.get(outputOf(node)) ?? outputOf(node))
    .filter((name) => name !== logits);
  graph.output = names.map((name) => ({ name, type: { tensorType: { elemType: dataType.float32 } } }));
  return names;
}

/** Measures the magnitudes of channels over many images. */
export class MagnitudeMeter {
  /** Activation → channels → images. */
  readonly #activations = new Map<string, number[][]>();

  /** @param values planes of one image, one for each channel */
  add(activation: string, values: Float32Array, channels: number): void {
    const plane = values.length / channels;
    let entry = this.#activations.get(activation);
    if (!entry) this.#activations.set(activation, (entry = Array.from({ length: channels }, () => [])));
    for (const [c, images] of entry.entries()) {
      images.push(magnitudeOf(values.subarray(c * plane, (c + 1) * plane)));
    }
  }

  magnitudes(): ChannelMagnitudes {
    return Object.fromEntries(
      [...this.#activations].map(([activation, channels]) => [
        activation,
        channels.map((images) => quantile(Float64Array.from(images).sort(), coveredImages)),
      ]),
    );
  }
}

function magnitudeOf(values: Float32Array): number {
  // Odd, so that a stride does not hit the same columns in every row.
  const stride = Math.max(1, Math.floor(values.length / sampled)) | 1;
  const magnitudes = new Float32Array(Math.ceil(values.length / stride));
  for (let i = 0; i < magnitudes.length; i++) magnitudes[i] = Math.abs(values[i * stride] ?? 0);
  return atRank(magnitudes, Math.floor(magnitudes.length * coveredValues));
}

/** The value at a rank, counted from the smallest. Sorts only the few above it. */
function atRank(values: Float32Array, rank: number): number {
  const most = new Float32Array(values.length - rank);
  for (const value of values) {
    if (value <= (most[0] ?? 0)) continue;
    let place = 0;
    for (; place + 1 < most.length && value > (most[place + 1] ?? 0); place++) {
      most[place] = most[place + 1] ?? 0;
    }
    most[place] = value;
  }
  return most[0] ?? 0;
}

/** Interpolates between the two nearest values. */
function quantile(ascending: Float64Array, share: number): number {
  const position = (ascending.length - 1) * share;
  const [lower, upper] = [Math.floor(position), Math.ceil(position)];
  const [from = 0, to = 0] = [ascending[lower], ascending[upper]];
  return from + (to - from) * (position - lower);
}

const channelMagnitudesSchema = z.record(z.string(), z.array(z.number().nonnegative()).min(1));

/** The typical largest value of each channel on photographs: activation → channels. */
export type ChannelMagnitudes = z.output<typeof channelMagnitudesSchema>;

/**
 * Reads a network's magnitudes, measured by `npm run bench -- activations`.
 * @param network a file name of `data/`, without `.json`
 */
export async function measuredMagnitudes(network: string): Promise<ChannelMagnitudes> {
  const text = await readFile(new URL(`../data/${network}.json`, import.meta.url), 'utf8');
  return z.object({ magnitudes: channelMagnitudesSchema }).parse(JSON.parse(text)).magnitudes;
}
