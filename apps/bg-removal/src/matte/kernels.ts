import { readFileSync } from 'node:fs';
import type { instantiate } from '../../data/kernels.js';

/**
 * Loops over pixels with vector instructions, which JavaScript doesn't have: WebAssembly from the
 * folder `src/kernels`. Addresses are offsets in the memory.
 */
export type Kernels = Omit<Awaited<ReturnType<typeof instantiate>>, 'memory'>;

const file = new URL('../../data/kernels.wasm', import.meta.url);
let compiled: object | undefined;
const instances = new WeakMap<WebAssembly.Memory, Kernels>();

/** The kernels of this thread that work on `memory`. */
export function kernelsFor(memory: WebAssembly.Memory): Kernels {
  const known = instances.get(memory);
  if (known !== undefined) return known;
  compiled ??= new WebAssembly.Module(readFileSync(file));
  const abort = (): never => {
    throw new Error('A kernel failed.');
  };
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory, abort } });
  // Both come from one build.
  const kernels = exports as unknown as Kernels;
  instances.set(memory, kernels);
  return kernels;
}
