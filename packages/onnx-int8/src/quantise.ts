import type { ChannelMagnitudes } from './magnitude-meter.js';
import { type ActivationRanges, equaliseChannels, sharedScales, type SharedScales } from './equalise.js';
import { fixInputSize, type FeatureShape, type ImageSize } from './fixed-size.js';
import { float32Values, inputOf, int64Tensor, known, logitsOf, outputOf, reluOutputs } from './nodes.js';
import {
  attributeType,
  dataType,
  type OnnxAttribute,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from './onnx-schema.js';
import { quantiseFilter, type RoundedFilter } from './round-filter.js';

/** onnxruntime's additional operators: integer convolution, pooling and addition with channels last. */
const microsoft = 'com.microsoft';
/** Copies of the last filter, each rounded differently: see {@link GraphBuilder.lastConvolution}. */
const headCopies = 16;
/**
 * The range of the logits. The sigmoid is practically 0 or 1 long before its ends, but the logits
 * are enlarged before the sigmoid, and clipping them on one side of an edge would move the edge.
 */
const logitRange = [-12, 12] as const;

/** An eight-bit activation represents `scale × (byte − zeroPoint)`. */
interface Quantisation {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** Maps 0-255 to a range that contains 0, which stays exact. */
function quantisationOf([low, high]: readonly [number, number]): Quantisation {
  const scale = Math.fround((Math.max(high, 0) - Math.min(low, 0)) / 255);
  return { scale, zeroPoint: Math.round(-Math.min(low, 0) / scale) };
}

/**
 * Converts a convolutional network to eight bits for onnxruntime's CPU provider: channels last,
 * uint8 activations, int8 weights with a scale for each output channel (Jacob et al., CVPR
 * 2018), and float only around bilinear resizing. The input is `uint8 [1, height, width, 3]`,
 * RGB as decoded: the normalisation (`value / 255 - 0.5`) is part of the first layer.
 *
 * The network may consist of Conv, Relu, MaxPool, Concat, Add, Resize and a final Sigmoid. The
 * same model and magnitudes always give the same bytes. Mutates `model`.
 * @throws if the network has other operators, or `magnitudes` lack an activation
 */
export function quantiseGraph(model: OnnxModel, magnitudes: ChannelMagnitudes, size: ImageSize): OnnxModel {
  const shapes = fixInputSize(model, size);
  const scales = sharedScales(model.graph.node);
  const ranges = equaliseChannels(model, magnitudes, scales);
  return new GraphBuilder(model, shapes, quantisations(model, ranges, scales)).build();
}

/** Scale and zero point of every activation. */
function quantisations(
  model: OnnxModel,
  ranges: ActivationRanges,
  scales: SharedScales,
): Map<string, Quantisation> {
  const result = new Map<string, Quantisation>();
  for (const [name, range] of Object.entries(ranges)) result.set(name, quantisationOf(range));
  for (const [name, members] of scales) {
    const known = [...members].flatMap((member) => (ranges[member] ? [ranges[member]] : []));
    if (known.length > 0) {
      result.set(
        name,
        quantisationOf([Math.min(...known.map(([low]) => low)), Math.max(...known.map(([, high]) => high))]),
      );
    }
  }
  const input = model.graph.input[0];
  if (input) result.set(input.name, { scale: Math.fround(1 / 255), zeroPoint: 128 });
  return result;
}

interface IntegerConvolution {
  readonly to: string;
  readonly filters: readonly RoundedFilter[];
  /** In steps of weight scale × input scale. */
  readonly biases: readonly number[];
  /** Scale and zero point of the output. */
  readonly output: readonly string[];
}

class GraphBuilder {
  readonly #model: OnnxModel;
  readonly #shapes: ReadonlyMap<string, FeatureShape>;
  readonly #quantisations: ReadonlyMap<string, Quantisation>;
  readonly #initializers: ReadonlyMap<string, OnnxTensor>;
  /** Output of a convolution → output of the Relu after it. */
  readonly #relus: ReadonlyMap<string, string>;
  readonly #logits: string;
  readonly #nodes: OnnxNode[] = [];
  readonly #constants = new Map<string, OnnxTensor>();

  constructor(
    model: OnnxModel,
    shapes: ReadonlyMap<string, FeatureShape>,
    quantised: ReadonlyMap<string, Quantisation>,
  ) {
    const { node: nodes, initializer = [] } = model.graph;
    this.#model = model;
    this.#shapes = shapes;
    this.#quantisations = quantised;
    this.#initializers = new Map(initializer.map((tensor) => [tensor.name ?? '', tensor]));
    this.#relus = reluOutputs(nodes);
    this.#logits = logitsOf(nodes);
  }

  build(): OnnxModel {
    const { graph } = this.#model;
    for (const node of graph.node) this.#translate(node);
    const [input] = graph.input;
    if (input === undefined) throw new Error('The network has no input.');
    const { width, height, channels } = known(this.#shapes, input.name);
    const dim = [1, height, width, channels].map((dimValue) => ({ dimValue }));
    return {
      irVersion: 8,
      opsetImport: [
        { domain: '', version: 15 },
        { domain: microsoft, version: 1 },
      ],
      graph: {
        name: 'int8',
        node: this.#nodes,
        initializer: [...this.#constants.values()],
        input: [{ name: input.name, type: { tensorType: { elemType: dataType.uint8, shape: { dim } } } }],
        output: graph.output,
      },
    };
  }

  #translate(node: OnnxNode): void {
    const from = inputOf(node, 0);
    const to = outputOf(node);
    switch (node.opType) {
      case 'Conv':
        if (to === this.#logits) this.#lastConvolution(node);
        else this.#convolution(node, this.#relus.get(to) ?? to);
        return;
      case 'Relu':
        // Part of the convolution: a zero point of 0 clips negative values.
        if (!this.#relus.has(from) || known(this.#quantisations, to).zeroPoint !== 0)
          throw new Error(`${node.name ?? to} does not follow a convolution.`);
        return;
      case 'MaxPool':
        this.#nodes.push({
          opType: 'NhwcMaxPool',
          domain: microsoft,
          name: node.name ?? to,
          input: [from],
          output: [to],
          attribute: attributesOf(node, ['kernel_shape', 'strides', 'pads', 'ceil_mode']),
        });
        return;
      case 'Concat':
        this.#add('Concat', node.input ?? [], to, [{ name: 'axis', type: attributeType.int, i: 3 }]);
        return;
      case 'Add': {
        const other = inputOf(node, 1);
        const input = [
          from,
          ...this.#parameters(from),
          other,
          ...this.#parameters(other),
          ...this.#parameters(to),
        ];
        this.#nodes.push({
          opType: 'QLinearAdd',
          domain: microsoft,
          name: node.name ?? to,
          input,
          output: [to],
        });
        return;
      }
      case 'Resize':
        if (from === this.#logits) this.#keep(node);
        else this.#resize(node);
        return;
      case 'Sigmoid':
        this.#keep(node);
        return;
      default:
        throw new Error(`The operator ${node.opType} has no int8 form.`);
    }
  }

  #convolution(node: OnnxNode, to: string): void {
    const from = inputOf(node, 0);
    const { filters, biases } = this.#weights(node);
    if (from === this.#model.graph.input[0]?.name) {
      // value/255 - 0.5 = (byte - 128)/255 + 0.5/255: the constant goes into the bias.
      for (const [i, filter] of filters.entries()) biases[i] = (biases[i] ?? 0) + (sum(filter) * 0.5) / 255;
    }
    const area = this.#filterArea(node);
    const rounded = filters.map((filter) => quantiseFilter(filter, area));
    const { scale } = known(this.#quantisations, from);
    this.#integerConvolution(node, {
      to,
      filters: rounded,
      biases: biases.map((bias, i) => Math.round(bias / ((rounded[i]?.scale ?? 1) * scale))),
      output: this.#parameters(to),
    });
  }

  /**
   * Eight bits of logit would be too coarse for a mask. So the last layer's one filter is computed
   * {@link headCopies} times, each copy rounded with another scale and shifted by a fraction of a
   * step. Their mean carries four more bits.
   */
  #lastConvolution(node: OnnxNode): void {
    const { filters, biases } = this.#weights(node);
    const [filter, ...others] = filters;
    const [bias] = biases;
    if (filter === undefined || bias === undefined || others.length > 0)
      throw new Error('The last convolution must have one output channel.');
    const to = outputOf(node);
    const from = inputOf(node, 0);
    const { scale: step, zeroPoint } = quantisationOf(logitRange);
    const area = this.#filterArea(node);
    const finest = quantiseFilter(filter, area);
    const copies = Array.from({ length: headCopies }, (_, k) => ({
      ...quantiseFilter(filter, area, finest.scale / (1 - (0.0567 * k) / headCopies)),
      bias: bias + ((k + 0.5) / headCopies - 0.5) * step,
    }));
    const { scale } = known(this.#quantisations, from);
    const output = [
      this.#scalar(`${to}_scale`, dataType.float32, new Uint8Array(Float32Array.of(step).buffer)),
      this.#scalar(`${to}_zero`, dataType.uint8, Uint8Array.of(zeroPoint)),
    ];
    this.#integerConvolution(node, {
      to: `${to}_copies`,
      filters: copies,
      biases: copies.map((copy) => Math.round(copy.bias / (copy.scale * scale))),
      output,
    });
    this.#add('DequantizeLinear', [`${to}_copies`, ...output], `${to}_logits`);
    this.#add('ReduceMean', [`${to}_logits`], `${to}_mean`, [
      { name: 'axes', type: attributeType.ints, ints: [3] },
      { name: 'keepdims', type: attributeType.int, i: 0 },
    ]);
    const { width, height } = known(this.#shapes, to);
    const shape = this.#constant(int64Tensor(`${to}_shape`, [1, 1, height, width]));
    this.#add('Reshape', [`${to}_mean`, shape], to);
  }

  #integerConvolution(node: OnnxNode, { to, filters, biases, output }: IntegerConvolution): void {
    const from = inputOf(node, 0);
    const dims = [filters.length, ...(this.#weightTensor(node).dims ?? []).slice(1)];
    const channels = [filters.length];
    const bytes = (array: Int8Array | Int32Array | Float32Array): Uint8Array =>
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const constant = (part: string, type: number, shape: number[], rawData: Uint8Array): string =>
      this.#constant({ name: `${to}_${part}`, dataType: type, dims: shape, rawData });
    this.#nodes.push({
      opType: 'QLinearConv',
      domain: microsoft,
      name: node.name ?? to,
      input: [
        from,
        ...this.#parameters(from),
        constant('weights', dataType.int8, dims, bytes(joined(filters))),
        constant(
          'weight_scales',
          dataType.float32,
          channels,
          bytes(Float32Array.from(filters, ({ scale }) => scale)),
        ),
        constant('weight_zeros', dataType.int8, channels, new Uint8Array(filters.length)),
        ...output,
        constant('biases', dataType.int32, channels, bytes(Int32Array.from(biases))),
      ],
      output: [to],
      attribute: [
        { name: 'channels_last', type: attributeType.int, i: 1 },
        ...attributesOf(node, ['dilations', 'group', 'kernel_shape', 'pads', 'strides']),
      ],
    });
  }

  /** Bilinear in float: the only operator without a fast integer form. */
  #resize(node: OnnxNode): void {
    const from = inputOf(node, 0);
    const to = outputOf(node);
    const { width, height, channels } = known(this.#shapes, to);
    const size = this.#constant(int64Tensor(`${to}_size`, [1, height, width, channels]));
    this.#add('DequantizeLinear', [from, ...this.#parameters(from)], `${to}_float`);
    this.#add(
      'Resize',
      [`${to}_float`, '', '', size],
      `${to}_resized`,
      attributesOf(node, ['mode', 'coordinate_transformation_mode']),
    );
    this.#add('QuantizeLinear', [`${to}_resized`, ...this.#parameters(to)], to);
  }

  #keep(node: OnnxNode): void {
    for (const name of node.input ?? []) {
      const tensor = this.#initializers.get(name);
      if (tensor) this.#constant(tensor);
    }
    this.#nodes.push(node);
  }

  #add(opType: string, input: string[], to: string, attribute: OnnxAttribute[] = []): void {
    this.#nodes.push({ opType, name: to, input, output: [to], attribute });
  }

  #constant(tensor: OnnxTensor): string {
    const name = tensor.name ?? '';
    this.#constants.set(name, tensor);
    return name;
  }

  #scalar(name: string, type: number, rawData: Uint8Array): string {
    return this.#constant({ name, dataType: type, dims: [], rawData });
  }

  /** Scale and zero point of an activation, as inputs of an operator. */
  #parameters(tensor: string): string[] {
    const { scale, zeroPoint } = known(this.#quantisations, tensor);
    return [
      this.#scalar(`${tensor}_scale`, dataType.float32, new Uint8Array(Float32Array.of(scale).buffer)),
      this.#scalar(`${tensor}_zero`, dataType.uint8, Uint8Array.of(zeroPoint)),
    ];
  }

  #weightTensor(node: OnnxNode): OnnxTensor {
    return known(this.#initializers, inputOf(node, 1));
  }

  /** The number of positions in a filter: 9 for a 3×3 kernel. */
  #filterArea(node: OnnxNode): number {
    const [, , ...sides] = this.#weightTensor(node).dims ?? [];
    return sides.reduce((product, side) => product * side, 1);
  }

  /** The filter and the bias of each output channel. */
  #weights(node: OnnxNode): { filters: Float32Array[]; biases: number[] } {
    const values = float32Values(this.#weightTensor(node));
    const biases = Array.from(float32Values(known(this.#initializers, inputOf(node, 2))));
    const length = values.length / biases.length;
    return { filters: biases.map((_, i) => values.subarray(i * length, (i + 1) * length)), biases };
  }
}

function attributesOf(node: OnnxNode, names: readonly string[]): OnnxAttribute[] {
  return (node.attribute ?? []).filter(({ name }) => names.includes(name));
}

function sum(values: Float32Array): number {
  return values.reduce((total, value) => total + value, 0);
}

function joined(filters: readonly RoundedFilter[]): Int8Array {
  const length = filters[0]?.steps.length ?? 0;
  const result = new Int8Array(filters.length * length);
  for (const [i, { steps }] of filters.entries()) result.set(steps, i * length);
  return result;
}
