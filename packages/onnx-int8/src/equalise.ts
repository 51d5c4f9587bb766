import type { ChannelMagnitudes } from './channel-magnitudes.js';
import {
  float32Values,
  inputOf,
  intOf,
  known,
  largestMagnitude,
  logitsOf,
  outputOf,
  reluOutputs,
} from './nodes.js';
import { dataType, type OnnxModel, type OnnxNode, type OnnxTensor } from './onnx-schema.js';
import { removeDeadNodes } from './rewrite.js';
import { join, type SharedScales } from './shared-scales.js';

/** The range of each measured activation: tensor → [low, high]. Values beyond it are clipped. */
export type ActivationRanges = Readonly<Record<string, readonly [number, number]>>;

/** Other images reach further than the measured ones. */
const headroom = 1.75;
/** Share of the largest channel: a channel that is nearly always 0 is treated as if it reached this far. */
const smallestShare = 0.05;

/**
 * Makes the channels of every activation about equally large, so that one scale suits them all.
 * Each channel is divided by a gain where it is computed and multiplied by it in the filters
 * that read it (Nagel et al., "Data-free quantization through weight equalization and bias
 * correction", ICCV 2019). The gain is the channel's magnitude to a power below 1: the filters
 * take part of the difference, since they have eight bits too. The network computes the same
 * function as before.
 *
 * Relu, pooling, resizing and concatenation keep a positive gain of each channel. The terms of
 * a sum share one gain. Changes `model`.
 * @param scales activations that share a scale: their gains give them the same range
 * @returns the range of each measured activation afterwards, with headroom
 * @throws if `magnitudes` lack an activation or have another number of channels
 */
export function equaliseChannels(
  model: OnnxModel,
  magnitudes: ChannelMagnitudes,
  scales: SharedScales,
): ActivationRanges {
  const { graph } = model;
  const gainOf = gainsOf(graph.node, magnitudes, scales);
  const initializers = new Map((graph.initializer ?? []).map((tensor) => [tensor.name ?? '', tensor]));
  const [input] = graph.input;
  if (input === undefined) throw new Error('The network has no input.');
  const relus = reluOutputs(graph.node);
  const logits = logitsOf(graph.node);
  const gains = new Map<string, Float64Array>([[input.name, new Float64Array(3).fill(1)]]);
  const signed = new Set<string>();
  for (const node of graph.node) {
    const from = inputOf(node, 0);
    const to = outputOf(node);
    if (node.opType === 'Conv') {
      const gain = to === logits ? undefined : gainOf(relus.get(to) ?? to);
      foldGains(node, initializers, known(gains, from), gain);
      if (gain) gains.set(to, gain);
      signed.add(to);
    } else if (node.opType === 'Add') {
      gains.set(to, gainOf(to));
      if (node.input?.some((name) => signed.has(name))) signed.add(to);
    } else if (node.opType === 'Concat') {
      const parts = (node.input ?? []).map((name) => known(gains, name));
      gains.set(to, Float64Array.from(parts.flatMap((part) => [...part])));
      if (node.input?.some((name) => signed.has(name))) signed.add(to);
    } else {
      // Relu, pooling and resizing. After the logits there is nothing to equalise.
      const gain = gains.get(from);
      if (gain) gains.set(to, gain);
      if (node.opType !== 'Relu' && signed.has(from)) signed.add(to);
    }
  }
  graph.initializer = [...initializers.values()];
  removeDeadNodes(model);
  const ranges = Object.entries(magnitudes).map(([name, channels]): [string, [number, number]] => {
    const gain = gainOf(name);
    const high = headroom * largestMagnitude(channels.map((magnitude, c) => magnitude / (gain[c] ?? 1)));
    return [name, [signed.has(name) ? -high : 0, high]];
  });
  return Object.fromEntries(ranges);
}

/** The gain of each channel of a measured activation. */
function gainsOf(
  nodes: readonly OnnxNode[],
  magnitudes: ChannelMagnitudes,
  scales: SharedScales,
): (name: string) => Float64Array {
  const sums = new Map<string, Set<string>>();
  for (const node of nodes) {
    if (node.opType === 'Add') join(sums, [inputOf(node, 0), inputOf(node, 1), outputOf(node)]);
  }
  const addedUp = (name: string): string[] => [...(sums.get(name) ?? [name])];
  const measured = new Map(Object.entries(magnitudes));
  const top = (name: string): number => largestMagnitude(measured.get(name) ?? []);
  return (name) => {
    const members = addedUp(name);
    const channels = members.map((member) => known(measured, member));
    const [first = []] = channels;
    if (channels.some(({ length }) => length !== first.length))
      throw new Error(`The magnitudes of ${members.join(' and ')} have different numbers of channels.`);
    const most = first.map((_, c) => largestMagnitude(channels.map((magnitude) => magnitude[c] ?? 0)));
    const own = largestMagnitude(most) || 1;
    const scale = largestMagnitude(
      members
        .flatMap((member) => [...(scales.get(member) ?? [])].flatMap(addedUp))
        .map(top)
        .concat(own),
    );
    return Float64Array.from(
      most,
      (magnitude) => evenedOut(Math.max(magnitude / own, smallestShare)) * (own / scale),
    );
  };
}

/** The power 5/8, from square roots, which are the same on every machine to the last bit. */
function evenedOut(share: number): number {
  return Math.sqrt(share) * Math.sqrt(Math.sqrt(Math.sqrt(share)));
}

/** Filters that read channels divided by `before` and give channels divided by `after`. */
function foldGains(
  node: OnnxNode,
  initializers: Map<string, OnnxTensor>,
  before: Float64Array,
  after: Float64Array | undefined,
): void {
  const [filterName, biasName] = [inputOf(node, 1), inputOf(node, 2)];
  const filters = known(initializers, filterName);
  const [outputs = 0, inputs = 0] = filters.dims ?? [];
  if ((intOf(node, 'group') ?? 1) !== 1)
    throw new Error(`${node.name ?? filterName} is a grouped convolution, which is not supported.`);
  if (inputs !== before.length || (after && outputs !== after.length))
    throw new Error(`${node.name ?? filterName} has other channels than those measured.`);
  const values = float32Values(filters);
  const area = values.length / outputs / inputs;
  const folded = values.map((value, i) => {
    const channel = Math.floor(i / area);
    return (value * (before[channel % inputs] ?? 1)) / (after?.[Math.floor(channel / inputs)] ?? 1);
  });
  const biases = float32Values(known(initializers, biasName)).map((bias, i) => bias / (after?.[i] ?? 1));
  // Under names of their own: another convolution may read the same tensor.
  const to = outputOf(node);
  const store = (part: string, dims: number[], { buffer }: Float32Array): string => {
    const name = `${to}_${part}`;
    initializers.set(name, { name, dims, dataType: dataType.float32, rawData: new Uint8Array(buffer) });
    return name;
  };
  node.input = [
    inputOf(node, 0),
    store('filters', filters.dims ?? [], folded),
    store('offsets', [outputs], biases),
  ];
}
