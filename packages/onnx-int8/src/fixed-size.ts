import { inputOf, int64Tensor, int64Values, intOf, intsOf, known, outputOf } from './nodes.js';
import type { OnnxModel, OnnxNode, OnnxTensor } from './onnx-schema.js';
import { removeDeadNodes } from './rewrite.js';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Shape of an activation, without batch and layout. */
export interface FeatureShape extends ImageSize {
  readonly channels: number;
}

/**
 * Fixes a convolutional network to one input size. What exporters compute at run time
 * (`Shape → Slice → Concat` before every `Resize`) becomes a constant, scaled from the size that
 * the graph was exported for. Changes `model`.
 * @returns the shape of every activation
 * @throws if a size is not constant, is not whole at `size`, or on an unknown operator
 */
export function fixInputSize(model: OnnxModel, size: ImageSize): Map<string, FeatureShape> {
  const { graph } = model;
  const [input] = graph.input;
  const [, , height, width] = input?.type?.tensorType?.shape?.dim ?? [];
  if (input === undefined || !height?.dimValue || !width?.dimValue) {
    throw new Error('The network has no input of one fixed size.');
  }
  const scaled = scaledSizes(model, size.height / height.dimValue, size.width / width.dimValue);
  const initializers = new Map((graph.initializer ?? []).map((tensor) => [tensor.name ?? '', tensor]));
  const shapes = new Map<string, FeatureShape>([[input.name, { ...size, channels: 3 }]]);
  const sizes: OnnxTensor[] = [];
  for (const node of graph.node) {
    if (computesShapes(node, shapes)) continue;
    const from = known(shapes, inputOf(node, 0));
    const to = outputOf(node);
    const resized = scaled.get(node);
    if (resized) {
      shapes.set(to, { ...from, ...resized });
      sizes.push(int64Tensor(`${to}_size`, [1, from.channels, resized.height, resized.width]));
      node.input = [inputOf(node, 0), '', '', `${to}_size`];
    } else {
      shapes.set(to, shapeAfter(node, shapes, initializers));
    }
  }
  graph.initializer = [...(graph.initializer ?? []), ...sizes];
  height.dimValue = size.height;
  width.dimValue = size.width;
  delete graph.valueInfo;
  removeDeadNodes(model);
  return shapes;
}

/**
 * The target of every `Resize` at the new size. Batch and channels come from a shape; the rest
 * is constant.
 */
function scaledSizes({ graph }: OnnxModel, vertical: number, horizontal: number): Map<OnnxNode, ImageSize> {
  const constants = new Map((graph.initializer ?? []).map((tensor) => [tensor.name ?? '', tensor]));
  const producers = new Map<string, OnnxNode>();
  for (const node of graph.node) {
    producers.set(outputOf(node), node);
    const value = node.opType === 'Constant' && node.attribute?.find(({ name }) => name === 'value')?.t;
    if (value) constants.set(outputOf(node), value);
  }
  const sizes = new Map<OnnxNode, ImageSize>();
  for (const node of graph.node.filter(({ opType }) => opType === 'Resize')) {
    const joined = known(producers, inputOf(node, 3));
    const [height, width] = int64Values(known(constants, inputOf(joined, 1)));
    const size = { height: (height ?? NaN) * vertical, width: (width ?? NaN) * horizontal };
    if (!Number.isInteger(size.height) || !Number.isInteger(size.width)) {
      throw new Error(`${node.name ?? 'A Resize'} would have a size of ${size.width} × ${size.height}.`);
    }
    sizes.set(node, size);
  }
  return sizes;
}

/** Whether a node computes sizes instead of activations. {@link fixInputSize} makes such nodes unused. */
function computesShapes(node: OnnxNode, shapes: ReadonlyMap<string, FeatureShape>): boolean {
  if (node.opType === 'Constant' || node.opType === 'Shape') return true;
  return !shapes.has(inputOf(node, 0)) && (node.opType === 'Slice' || node.opType === 'Concat');
}

function shapeAfter(
  node: OnnxNode,
  shapes: ReadonlyMap<string, FeatureShape>,
  initializers: ReadonlyMap<string, OnnxTensor>,
): FeatureShape {
  const from = known(shapes, inputOf(node, 0));
  switch (node.opType) {
    case 'Relu':
    case 'Sigmoid':
    case 'Add':
      return from;
    case 'Concat': {
      const parts = (node.input ?? []).map((name) => known(shapes, name));
      return { ...from, channels: parts.reduce((sum, { channels }) => sum + channels, 0) };
    }
    case 'MaxPool':
      return { ...from, ...windowed(node, from) };
    case 'Conv': {
      const channels = known(initializers, inputOf(node, 1)).dims?.[0] ?? NaN;
      return { channels, ...windowed(node, from) };
    }
    default:
      throw new Error(`The operator ${node.opType} is not supported.`);
  }
}

/** The output size of a convolution or a pooling (ONNX operators `Conv` and `MaxPool`). */
function windowed(node: OnnxNode, { width, height }: ImageSize): ImageSize {
  const [kernelHeight = 1, kernelWidth = 1] = intsOf(node, 'kernel_shape') ?? [];
  const [top = 0, left = 0, bottom = 0, right = 0] = intsOf(node, 'pads') ?? [];
  const [verticalStride = 1, horizontalStride = 1] = intsOf(node, 'strides') ?? [];
  const [verticalDilation = 1, horizontalDilation = 1] = intsOf(node, 'dilations') ?? [];
  const round = intOf(node, 'ceil_mode') === 1 ? Math.ceil : Math.floor;
  return {
    height: round((height + top + bottom - verticalDilation * (kernelHeight - 1) - 1) / verticalStride) + 1,
    width: round((width + left + right - horizontalDilation * (kernelWidth - 1) - 1) / horizontalStride) + 1,
  };
}
