import { readFileSync } from 'node:fs';
import type { instantiate } from '../../data/kernels.js';
import { kernelParameters } from './kernel-parameters.js';

type Positional = Omit<Awaited<ReturnType<typeof instantiate>>, 'memory'>;
type KernelName = keyof Positional;
type ParameterOf<Name extends KernelName> = (typeof kernelParameters)[Name][number];

/**
 * Loops over pixels with vector instructions, which JavaScript doesn't have: WebAssembly from the
 * folder `src/kernels`. Addresses are offsets in the memory. WebAssembly knows arguments by their
 * place alone; here they have names, so that none can take another's place.
 */
export type Kernels = {
  readonly [Name in KernelName]: (
    values: Readonly<Record<ParameterOf<Name>, number | boolean>>,
  ) => ReturnType<Positional[Name]>;
};

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
  const kernels = Object.fromEntries(
    Object.entries(kernelParameters).map(([name, parameters]) => [name, named(exports[name], parameters)]),
  );
  // The names are those of the build.
  instances.set(memory, kernels as unknown as Kernels);
  return kernels as unknown as Kernels;
}

function named(kernel: unknown, parameters: readonly string[]) {
  if (typeof kernel !== 'function') throw new Error('The kernels are of another build.');
  return (values: Readonly<Record<string, number | boolean>>): unknown =>
    Reflect.apply(
      kernel,
      undefined,
      parameters.map((name) => values[name]),
    );
}
