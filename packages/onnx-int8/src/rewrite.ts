import { dataType, type OnnxModel, type OnnxNode, type OnnxTensor } from './onnx-schema.js';

/**
 * Rewrites an inference graph so that a CPU computes the same mask with less work. Widens
 * half-precision weights to single precision (CPUs compute in single precision anyway and would
 * convert around every operator), drops the casts between the two, and removes all outputs
 * except `outputName` and everything unused. Mutates `model`.
 */
export function rewriteGraph(model: OnnxModel, outputName: string): void {
  const graph = model.graph;
  const kept = graph.output.find((output) => output.name === outputName);
  if (kept === undefined) throw new Error(`The model has no output named ${outputName}.`);
  graph.output = [kept];
  dropFloatCasts(model);
  widenWeights(model);
  removeDeadNodes(model);
}

function isFloat(type: number | undefined): boolean {
  return type === dataType.float16 || type === dataType.float32;
}

function castTarget(node: OnnxNode): number | undefined {
  return node.opType === 'Cast' ? node.attribute?.find(({ name }) => name === 'to')?.i : undefined;
}

/**
 * Replaces casts between half and single precision with aliases, since everything becomes
 * single precision.
 */
function dropFloatCasts(model: OnnxModel): void {
  const { graph } = model;
  const types = new Map<string, number | undefined>();
  for (const value of [...graph.input, ...graph.output, ...(graph.valueInfo ?? [])]) {
    types.set(value.name, value.type?.tensorType?.elemType);
  }
  const outputs = new Set(graph.output.map(({ name }) => name));
  const alias = new Map<string, string>();
  const resolve = (name: string): string => {
    let target = name;
    for (let next = alias.get(target); next !== undefined; next = alias.get(target)) target = next;
    return target;
  };
  const dropped = new Set<OnnxNode>();
  for (const node of graph.node) {
    const from = node.input?.[0];
    const to = node.output[0];
    if (from === undefined || to === undefined) continue;
    if (isFloat(castTarget(node)) && isFloat(types.get(from)) && !outputs.has(to)) {
      alias.set(to, from);
      dropped.add(node);
    }
  }
  // If a cast produces the graph's output, its source takes over the output's name.
  for (const node of graph.node) {
    const from = node.input?.[0];
    const to = node.output[0];
    if (from === undefined || to === undefined || !outputs.has(to) || !isFloat(castTarget(node))) continue;
    const source = resolve(from);
    const producer = graph.node.find((candidate) => candidate.output.includes(source));
    if (producer === undefined || !isFloat(types.get(from))) continue;
    producer.output = producer.output.map((name) => (name === source ? to : name));
    alias.set(source, to);
    dropped.add(node);
  }
  graph.node = graph.node.filter((node) => !dropped.has(node));
  for (const node of graph.node) if (node.input) node.input = node.input.map(resolve);
}

function widenTensor(tensor: OnnxTensor): void {
  if (tensor.dataType !== dataType.float16) return;
  if (tensor.rawData === undefined || (tensor.externalData?.length ?? 0) > 0) {
    throw new Error(`Half-precision tensor ${tensor.name ?? ''} is not stored as raw data.`);
  }
  tensor.rawData = widenFloat16(tensor.rawData);
  tensor.dataType = dataType.float32;
}

function widenWeights({ graph }: OnnxModel): void {
  graph.initializer?.forEach(widenTensor);
  for (const node of graph.node) {
    for (const attribute of node.attribute ?? []) {
      if (attribute.t) widenTensor(attribute.t);
      if (node.opType === 'Cast' && attribute.name === 'to' && attribute.i === dataType.float16) {
        attribute.i = dataType.float32;
      }
    }
  }
  for (const value of [...graph.input, ...graph.output]) {
    const tensorType = value.type?.tensorType;
    if (tensorType?.elemType === dataType.float16) tensorType.elemType = dataType.float32;
  }
  // The runtime infers the types of intermediate values when it loads the graph.
  delete graph.valueInfo;
}

/** Removes nodes and initializers that no output depends on. Mutates `model`. */
export function removeDeadNodes({ graph }: OnnxModel): void {
  const producers = new Map<string, OnnxNode>();
  for (const node of graph.node) for (const name of node.output) producers.set(name, node);
  const needed = new Set<OnnxNode>();
  const names = new Set<string>();
  const pending = graph.output.map(({ name }) => name);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (names.has(name)) continue;
    names.add(name);
    const node = producers.get(name);
    if (node === undefined) continue;
    needed.add(node);
    pending.push(...(node.input ?? []));
  }
  graph.node = graph.node.filter((node) => needed.has(node));
  if (graph.initializer)
    graph.initializer = graph.initializer.filter(({ name }) => name !== undefined && names.has(name));
}

/**
 * Widens IEEE 754 half-precision numbers (little endian) to single precision. Exact for every
 * value, including subnormals and infinities.
 */
export function widenFloat16(halves: Uint8Array): Uint8Array {
  if (halves.byteLength % 2 !== 0) throw new Error('Half-precision data has an odd number of bytes.');
  const source = new DataView(halves.buffer, halves.byteOffset, halves.byteLength);
  const count = halves.byteLength / 2;
  const result = new Uint8Array(count * 4);
  const target = new DataView(result.buffer);
  for (let i = 0; i < count; i++) target.setUint32(i * 4, floatBits(source.getUint16(i * 2, true)), true);
  return result;
}

function floatBits(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return (sign | 0x7f800000 | (fraction << 13)) >>> 0;
  if (exponent !== 0) return (sign | ((exponent + 112) << 23) | (fraction << 13)) >>> 0;
  if (fraction === 0) return sign >>> 0;
  // Subnormal half: normalise the fraction, whose leading one becomes implicit.
  const shift = Math.clz32(fraction) - 21;
  return (sign | ((113 - shift) << 23) | ((fraction << (13 + shift)) & 0x7fffff)) >>> 0;
}
