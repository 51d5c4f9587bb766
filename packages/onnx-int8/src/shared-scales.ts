import { inputOf, logitsOf, outputOf } from './nodes.js';
import type { OnnxNode } from './onnx-schema.js';

/** An activation → all that share its scale. Activations with a scale of their own are left out. */
export type SharedScales = ReadonlyMap<string, ReadonlySet<string>>;

/** The inputs and output of a pooling, resize or concatenation share a scale, so that bytes pass unchanged. */
export function sharedScales(nodes: readonly OnnxNode[]): SharedScales {
  const groups = new Map<string, Set<string>>();
  const logits = logitsOf(nodes);
  for (const node of nodes) {
    const passes = node.opType === 'MaxPool' || node.opType === 'Resize' || node.opType === 'Concat';
    if (passes && inputOf(node, 0) !== logits) join(groups, [...activationsInto(node), outputOf(node)]);
  }
  return groups;
}

/** Merges the groups that `names` are in. */
export function join(groups: Map<string, Set<string>>, names: readonly string[]): void {
  const joined = new Set(names.flatMap((name) => [...(groups.get(name) ?? [name])]));
  for (const name of joined) groups.set(name, joined);
}

/** The inputs that are activations: a resize's others are sizes. */
function activationsInto(node: OnnxNode): string[] {
  return node.opType === 'Resize' ? [inputOf(node, 0)] : (node.input ?? []);
}
