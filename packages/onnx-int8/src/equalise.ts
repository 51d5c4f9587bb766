import type { ChannelMagnitudes } from './magnitude-meter.js';
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

/** The range of each measured activation: tensor → [low, high]. Values beyond it are clipped. */
export type ActivationRanges = Readonly<Record<string, readonly [number, number]>>;

/** Other images have larger values than the measured ones. */
const headroom = 1.75;
/** The smallest share of the largest channel that we assume; some channels are nearly always 0. */
const smallestShare = 0.05;

/**
 * Makes the channels of every activation similarly large, so that one scale suits them all.
 * Each channel is divided by a gain where it is computed and multiplied by it in the filters
 * that read it (Nagel et al., "Data-free quantization through weight equalization and bias
 * correction", ICCV 2019). The gain is the channel's magnitude to a power below 1, because the
 * filters absorb the rest of the difference in their own eight bits. The network computes the
 * same function as before.
 *
 * Relu, pooling, resizing and concatenation preserve a channel's positive gain. The terms of a
 * sum share one gain. Mutates `model`.
 * @param scales activations that share a scale: their gains give them the same range
 * @returns the range of each measured activation afterwards, with headroom
 * @throws if `magnitudes` lack an activation or have a different number of channels
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
  const summedWith = (name: string): string[] => [...(sums.get(name) ?? [name])];
  const measured = new Map(Object.entries(magnitudes));
  const top = (name: string): number => largestMagnitude(measured.get(name) ?? []);
  return (name) => {
    const members = summedWith(name);
    const channels = members.map((member) => known(measured, member));
    const [first = []] = channels;
    if (channels.some(({ length }) => length !== first.length))
      throw new Error(`The magnitudes of ${members.join(' and ')} have different numbers of channels.`);
    const most = first.map((_, c) => largestMagnitude(channels.map((magnitude) => magnitude[c] ?? 0)));
    const own = largestMagnitude(most) || 1;
    const scale = largestMagnitude(
      members
        .flatMap((member) => [...(scales.get(member) ?? [])].flatMap(summedWith))
        .map(top)
        .concat(own),
    );
    return Float64Array.from(
      most,
      (magnitude) => attenuate(Math.max(magnitude / own, smallestShare)) * (own / scale),
    );
  };
}

/** `share` to the power 5/8, computed with square roots, which are bit-identical on every machine. */
function attenuate(share: number): number {
  return Math.sqrt(share) * Math.sqrt(Math.sqrt(Math.sqrt(share)));
}

/** Adjusts filters to read channels divided by `before` and produce channels divided by `after`. */
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
    throw new Error(`${node.name ?? filterName} has a different number of channels than measured.`);
  const values = float32Values(filters);
  const area = values.length / outputs / inputs;
  const folded = values.map((value, i) => {
    const channel = Math.floor(i / area);
    return (value * (before[channel % inputs] ?? 1)) / (after?.[Math.floor(channel / inputs)] ?? 1);
  });
  const biases = float32Values(known(initializers, biasName)).map((bias, i) => bias / (after?.[i] ?? 1));
  // Use new names, because another convolution may read the same tensor.
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

/** An activation → all activations that share its scale. Omits activations that share with no other. */
export type SharedScales = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The inputs and output of a pooling, resize or concatenation share a scale, so that bytes pass
 * through unchanged.
 */
export function sharedScales(nodes: readonly OnnxNode[]): SharedScales {
  const groups = new Map<string, Set<string>>();
  const logits = logitsOf(nodes);
  for (const node of nodes) {
    const passes = node.opType === 'MaxPool' || node.opType === 'Resize' || node.opType === 'Concat';
    if (passes && inputOf(node, 0) !== logits) join(groups, [...activationsInto(node), outputOf(node)]);
  }
  return groups;
}

/** Merges the groups that contain `names`. */
function join(groups: Map<string, Set<string>>, names: readonly string[]): void {
  const joined = new Set(names.flatMap((name) => [...(groups.get(name) ?? [name])]));
  for (const name of joined) groups.set(name, joined);
}

/** The inputs that are activations; a resize's other inputs are sizes. */
function activationsInto(node: OnnxNode): string[] {
  return node.opType === 'Resize' ? [inputOf(node, 0)] : (node.input ?? []);
}
