import { rewriteGraph, widenFloat16 } from '../src/rewrite.js';
import { attributeType, dataType, decodeModel, encodeModel, type OnnxModel } from '../src/onnx-schema.js';

/** The value of a half-precision number by definition. */
function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
}

test('every half-precision number keeps its value', () => {
  const halves = Uint16Array.from({ length: 65_536 }, (_, i) => i);
  const widened = new Float32Array(widenFloat16(new Uint8Array(halves.buffer)).buffer);
  const wrong = halves.findIndex((bits, i) => !Object.is(widened[i], halfValue(bits)));
  expect(wrong).toBe(-1);
});

/** `mask = Relu(x·w)` in half precision between casts, with an unused side output. */
function halfNetwork(): OnnxModel {
  const value = (name: string, elemType: number) => ({ name, type: { tensorType: { elemType } } });
  const cast = (from: string, to: string, type: number) => ({
    opType: 'Cast',
    input: [from],
    output: [to],
    attribute: [{ name: 'to', type: attributeType.int, i: type }],
  });
  return {
    irVersion: 8,
    opsetImport: [{ version: 15 }],
    graph: {
      name: 'half',
      input: [value('x', dataType.float32)],
      output: [value('mask', dataType.float32), value('side', dataType.float32)],
      valueInfo: [
        value('x16', dataType.float16),
        value('y16', dataType.float16),
        value('z16', dataType.float16),
        value('s16', dataType.float16),
      ],
      initializer: [
        { name: 'w', dims: [1], dataType: dataType.float16, rawData: Uint8Array.of(0x00, 0x3e) },
        { name: 'unused', dims: [1], dataType: dataType.float16, rawData: Uint8Array.of(0, 0) },
      ],
      node: [
        cast('x', 'x16', dataType.float16),
        { opType: 'Mul', input: ['x16', 'w'], output: ['y16'] },
        { opType: 'Relu', input: ['y16'], output: ['z16'] },
        { opType: 'Neg', input: ['y16'], output: ['s16'] },
        cast('z16', 'mask', dataType.float32),
        cast('s16', 'side', dataType.float32),
      ],
    },
  };
}

test('a rewritten graph has single-precision weights, no casts, one output and no unused parts', () => {
  const model = decodeModel(encodeModel(halfNetwork()));
  rewriteGraph(model, 'mask');
  const { graph } = decodeModel(encodeModel(model));
  expect(graph.node.map(({ opType, input, output }) => [opType, input, output])).toEqual([
    ['Mul', ['x', 'w'], ['y16']],
    ['Relu', ['y16'], ['mask']],
  ]);
  expect(graph.output.map(({ name }) => name)).toEqual(['mask']);
  const [weight, ...others] = graph.initializer ?? [];
  expect(others).toEqual([]);
  expect(weight?.dataType).toBe(dataType.float32);
  expect(new Float32Array(Uint8Array.from(weight?.rawData ?? []).buffer)).toEqual(Float32Array.of(1.5));
});

test('a cast that changes more than precision is kept', () => {
  const model = halfNetwork();
  model.graph.valueInfo =
    model.graph.valueInfo?.map((info) =>
      info.name === 'z16' ? { name: 'z16', type: { tensorType: { elemType: dataType.int64 } } } : info,
    ) ?? [];
  rewriteGraph(model, 'mask');
  expect(model.graph.node.map(({ opType }) => opType)).toEqual(['Mul', 'Relu', 'Cast']);
});

test('a missing output is an error', () => {
  expect(() => rewriteGraph(halfNetwork(), 'alpha')).toThrow('no output named alpha');
});

test('the same model always gives the same bytes', () => {
  const bytes = encodeModel(halfNetwork());
  expect(encodeModel(decodeModel(bytes))).toEqual(bytes);
});

test('rejects bytes that are not an ONNX model', () => {
  expect(() => decodeModel(Uint8Array.of())).toThrow('Not an ONNX model');
});
