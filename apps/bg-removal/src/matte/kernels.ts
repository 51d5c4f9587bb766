import { readFileSync } from 'node:fs';
import type { instantiate } from '../../data/kernels.js';
import type { kernelParameters } from './kernel-parameters.js';

type Positional = Omit<Awaited<ReturnType<typeof instantiate>>, 'memory'>;
export type KernelName = keyof Positional;
type Words<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? [First, ...Words<Rest>]
  : [Text];
type ParametersOf<Name extends KernelName> = Words<(typeof kernelParameters)[Name]>;
type WithoutRange<List> = List extends [...infer Rest extends string[], string, string]
  ? Rest[number]
  : never;

/** An array of the shared memory stands for its address. */
export type KernelValue = number | boolean | Uint8Array | Float32Array;
/** Values for all parameters of a kernel, by name, so that none can take another's place. */
export type KernelValues<Name extends KernelName> = Readonly<Record<ParametersOf<Name>[number], KernelValue>>;
/** The same without the last two parameters, the range. */
export type RangelessValues<Name extends KernelName> = Readonly<
  Record<WithoutRange<ParametersOf<Name>>, KernelValue>
>;
export type KernelResult<Name extends KernelName> = ReturnType<Positional[Name]>;

/**
 * Loops over pixels with vector instructions, which JavaScript doesn't have: WebAssembly from the
 * folder `src/kernels`. It knows arguments by their place alone.
 */
export type Kernels = ReadonlyMap<KernelName, (...values: (number | boolean)[]) => unknown>;

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
  // The names are those of the build.
  const kernels = new Map(Object.entries(exports)) as unknown as Kernels;
  instances.set(memory, kernels);
  return kernels;
}
