import {
  attributeType,
  dataType,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from '../../src/onnx-schema.js';

/** Reproducible pseudo-random numbers between -1 and 1 (mulberry32). */
export function seededNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

const ints = (name: string, values: number[]) => ({ name, type: attributeType.ints, ints: values });
const int = (name: string, i: number) => ({ name, type: attributeType.int, i });
const int64 = (name: string, values: number[]): OnnxTensor => ({
  name,
  dims: [values.length],
  dataType: dataType.int64,
  rawData: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
});

/**
 * A network with ISNet's operators and structure and random weights: a convolution without
 * Relu, an encoder with pooling, a decoder that resizes to the size from a `Shape`, a
 * concatenation, a residual sum, and one logit channel that is resized to the input's size,
 * followed by a sigmoid.
 */
export function smallNetwork(size = 32): OnnxModel {
  const random = seededNumbers(7);
  const initializer: OnnxTensor[] = [int64('zero', [0]), int64('two', [2])];
  const node: OnnxNode[] = [];
  const conv = (
    name: string,
    from: string,
    to: string,
    [outputs, inputs]: [number, number],
    stride = 1,
  ): void => {
    const weights = Float32Array.from(
      { length: outputs * inputs * 9 },
      () => random() * Math.sqrt(3 / (inputs * 9)) * 1.4,
    );
    const biases = Float32Array.from({ length: outputs }, () => random() * 0.1);
    initializer.push(
      {
        name: `${name}_w`,
        dims: [outputs, inputs, 3, 3],
        dataType: dataType.float32,
        rawData: new Uint8Array(weights.buffer),
      },
      {
        name: `${name}_b`,
        dims: [outputs],
        dataType: dataType.float32,
        rawData: new Uint8Array(biases.buffer),
      },
    );
    node.push({
      opType: 'Conv',
      name,
      input: [from, `${name}_w`, `${name}_b`],
      output: [to],
      attribute: [
        ints('kernel_shape', [3, 3]),
        ints('pads', [1, 1, 1, 1]),
        ints('strides', [stride, stride]),
      ],
    });
  };
  const convRelu = (name: string, from: string, channels: [number, number]): void => {
    conv(name, from, `${name}_raw`, channels);
    node.push({ opType: 'Relu', input: [`${name}_raw`], output: [name] });
  };
  const resize = (from: string, to: string, side: number): void => {
    initializer.push(int64(`${to}_side`, [side, side]));
    node.push(
      { opType: 'Shape', input: [from], output: [`${to}_shape`] },
      { opType: 'Slice', input: [`${to}_shape`, 'zero', 'two', 'zero'], output: [`${to}_batch`] },
      {
        opType: 'Concat',
        input: [`${to}_batch`, `${to}_side`],
        output: [`${to}_to`],
        attribute: [int('axis', 0)],
      },
      {
        opType: 'Resize',
        input: [from, '', '', `${to}_to`],
        output: [to],
        attribute: [
          { name: 'mode', type: attributeType.string, s: Buffer.from('linear') },
          {
            name: 'coordinate_transformation_mode',
            type: attributeType.string,
            s: Buffer.from('half_pixel'),
          },
        ],
      },
    );
  };

  conv('first', 'input', 'features', [8, 3], 2);
  convRelu('a', 'features', [16, 8]);
  node.push({
    opType: 'MaxPool',
    input: ['a'],
    output: ['pooled'],
    attribute: [ints('kernel_shape', [2, 2]), ints('strides', [2, 2]), int('ceil_mode', 1)],
  });
  convRelu('b', 'pooled', [16, 16]);
  resize('b', 'up', size / 2);
  node.push({ opType: 'Concat', input: ['up', 'a'], output: ['joined'], attribute: [int('axis', 1)] });
  convRelu('c', 'joined', [16, 32]);
  node.push({ opType: 'Add', input: ['c', 'a'], output: ['sum'] });
  conv('last', 'sum', 'logits', [1, 16]);
  resize('logits', 'full', size);
  node.push({ opType: 'Sigmoid', input: ['full'], output: ['output'] });

  const value = (name: string, channels: number) => ({
    name,
    type: {
      tensorType: {
        elemType: dataType.float32,
        shape: { dim: [1, channels, size, size].map((dimValue) => ({ dimValue })) },
      },
    },
  });
  return {
    irVersion: 8,
    opsetImport: [{ domain: '', version: 15 }],
    graph: { name: 'small', node, initializer, input: [value('input', 3)], output: [value('output', 1)] },
  };
}
