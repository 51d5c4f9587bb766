import { dataType, type OnnxNode, type OnnxTensor } from './onnx-schema.js';

// Accessors for nodes and tensors. Each throws an error that names what is missing.

export function inputOf(node: OnnxNode, index: number): string {
  const name = node.input?.[index];
  if (!name) throw new Error(`Node ${node.name ?? node.opType} has no input ${index}.`);
  return name;
}

export function outputOf(node: OnnxNode): string {
  const [name] = node.output;
  if (!name) throw new Error(`Node ${node.name ?? node.opType} has no output.`);
  return name;
}

/** The output of the last convolution, followed only by the resize and the sigmoid. */
export function logitsOf(nodes: readonly OnnxNode[]): string {
  const last = nodes.findLast(({ opType }) => opType === 'Conv');
  if (last === undefined) throw new Error('The network has no convolution.');
  return outputOf(last);
}

/** Output of a convolution → output of the Relu after it. */
export function reluOutputs(nodes: readonly OnnxNode[]): ReadonlyMap<string, string> {
  return new Map(
    nodes.filter(({ opType }) => opType === 'Relu').map((node) => [inputOf(node, 0), outputOf(node)]),
  );
}

export function intsOf(node: OnnxNode, name: string): number[] | undefined {
  return node.attribute?.find((attribute) => attribute.name === name)?.ints;
}

export function intOf(node: OnnxNode, name: string): number | undefined {
  return node.attribute?.find((attribute) => attribute.name === name)?.i;
}

/** Returns a value that the map must contain. */
export function known<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`The tensor ${name} is unknown.`);
  return value;
}

/** The largest absolute value; 0 if there are no values. */
export function largestMagnitude(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}

export function float32Values({ name, dataType: type, rawData }: OnnxTensor): Float32Array {
  if (type !== dataType.float32 || rawData === undefined)
    throw new Error(`Tensor ${name ?? ''} is not stored as raw float32.`);
  return new Float32Array(Uint8Array.from(rawData).buffer);
}

export function int64Values({ int64Data, rawData }: OnnxTensor): number[] {
  if (int64Data?.length) return int64Data;
  return Array.from(new BigInt64Array(Uint8Array.from(rawData ?? []).buffer), Number);
}

export function int64Tensor(name: string, values: readonly number[]): OnnxTensor {
  const rawData = new Uint8Array(new BigInt64Array(values.map(BigInt)).buffer);
  return { name, dims: [values.length], dataType: dataType.int64, rawData };
}
