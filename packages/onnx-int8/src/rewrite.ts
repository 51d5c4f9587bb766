import { widenFloat16 } from './float16.js';
import type { OnnxModel, OnnxNode, OnnxTensor } from './onnx-schema.js';
import { dataType } from './onnx-schema.js';

/**
 * Rewrites an inference graph so that a CPU has less to do for the same mask:
 * half-precision weights become single precision (CPUs compute in single
 * precision anyway and would convert around every operator), the casts between
 * the two are dropped, every output but `outputName` is cut, and what nobody
 * reads any more is removed. Changes `model`.
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

/** Casts between half and single precision become aliases once all is single precision. */
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
  // A cast that makes the graph's output: its source takes over the output's name.
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
  // Types of intermediate values are inferred again when the graph is loaded.
  delete graph.valueInfo;
}

/** Removes what no output depends on. Changes `model`. */
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
