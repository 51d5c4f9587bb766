import { kernelParameters } from './kernel-parameters.js';
import {
  kernelsFor,
  type KernelName,
  type KernelResult,
  type Kernels,
  type KernelValue,
  type KernelValues,
  type RangelessValues,
} from './kernels.js';
import type { Team } from './team.js';

/** Steps of one image; more than it ever has. */
const maxSteps = 128;
/** Enough that members finish almost together, and few enough to take quickly. */
const maxParts = 32;
const alignment = 64;
const pageSize = 65_536;
/** WebAssembly's limit: 4 GiB. */
const mostPages = 65_536;
/** Threads that can share memory. */
const mostMembers = 2;
/** Kernels read whole vectors, also at the end of an array. */
const readAhead = 64;
/** More parts than any step has: ends the others' waiting. */
const failed = 1 << 24;

/** Two words for each step: parts taken and parts done. */
const wordsPerStep = 2;

/** What the members of a team share. */
export interface SharedMemory {
  /** One memory for all images. One for each would stay until every thread collects its garbage. */
  readonly memory: WebAssembly.Memory;
  readonly progress: Int32Array;
}

export function createSharedMemory(maxBytes: number): SharedMemory {
  return {
    memory: new WebAssembly.Memory({
      initial: 0,
      maximum: Math.min(Math.floor(maxBytes / pageSize), mostPages),
      shared: true,
    }),
    progress: new Int32Array(new SharedArrayBuffer(maxSteps * wordsPerStep * Int32Array.BYTES_PER_ELEMENT)),
  };
}

/** One thread's part in the work on one image. All members allocate the same memory in the same order. */
export class TeamMember implements Team {
  readonly #kernels: Kernels;
  readonly #memory: WebAssembly.Memory;
  readonly #progress: Int32Array;
  #nextStep = 0;
  #end = 0;
  readonly #index: number;
  readonly #buffers = new WeakSet<ArrayBufferLike>();

  /** @param index of this member among those that share the memory */
  constructor({ memory, progress }: SharedMemory, index: number) {
    this.#memory = memory;
    this.#progress = progress;
    this.#index = index;
    this.#kernels = kernelsFor(memory);
  }

  each(count: number, work: (from: number, to: number) => void): void {
    if (this.#nextStep === maxSteps) throw new Error('An image has too many steps.');
    const taken = this.#nextStep * wordsPerStep;
    const done = taken + 1;
    this.#nextStep += 1;
    const size = Math.max(1, Math.ceil(count / maxParts));
    const parts = Math.ceil(count / size);
    for (let part: number; (part = Atomics.add(this.#progress, taken, 1)) < parts;) {
      try {
        work(part * size, Math.min(count, (part + 1) * size));
      } catch (error) {
        this.#report(done, failed);
        throw error;
      }
      this.#report(done, 1);
    }
    if (this.#waitFor(done, parts) >= failed) throw new Error('Another thread failed.');
  }

  /** Runs a kernel for all of `0 … count`, in ranges. */
  run<Name extends KernelName>(name: Name, count: number, values: RangelessValues<Name>): void {
    const fixed = this.#arguments(name, values);
    this.each(count, (from, to) => this.#call(name, [...fixed, from, to]));
  }

  /** Runs a kernel in this thread. */
  call<Name extends KernelName>(name: Name, values: KernelValues<Name>): KernelResult<Name> {
    // The build's types say what a kernel returns.
    return this.#call(name, this.#arguments(name, values)) as KernelResult<Name>;
  }

  bytes(length: number): Uint8Array {
    const start = this.#reserve(length);
    return new Uint8Array(this.#buffer(), start, length);
  }

  floats(length: number): Float32Array {
    const start = this.#reserve(length * Float32Array.BYTES_PER_ELEMENT);
    return new Float32Array(this.#buffer(), start, length);
  }

  /** A copy that all members see. */
  place<T extends Uint8Array | Float32Array>(values: T): T;
  place(values: Uint8Array | Float32Array): Uint8Array | Float32Array {
    const copy = values instanceof Float32Array ? this.floats(values.length) : this.bytes(values.length);
    copy.set(values);
    return copy;
  }

  /**
   * Frees what `work` allocates. No member may begin the next step before all have ended this one,
   * because a late one would write to memory that has another use by then.
   */
  freeAfter<T>(work: () => T): T {
    const end = this.#end;
    const result = work();
    this.#end = end;
    return result;
  }

  /** The address, for a kernel, of memory that no other member uses. */
  scratch(bytes: number): number {
    const size = Math.ceil(bytes / alignment) * alignment;
    return this.#reserve(mostMembers * size) + this.#index * size;
  }

  /** The address, for a kernel, of an array in the shared memory. */
  addressOf({ buffer, byteOffset }: Uint8Array | Float32Array): number {
    if (!this.#buffers.has(buffer)) throw new Error('A kernel needs an array of the shared memory.');
    return byteOffset;
  }

  #arguments(name: KernelName, values: Readonly<Record<string, KernelValue>>): (number | boolean)[] {
    return kernelParameters[name].split(' ').flatMap((parameter) => {
      const value = values[parameter];
      if (value === undefined) return [];
      return typeof value === 'object' ? this.addressOf(value) : value;
    });
  }

  #call(name: KernelName, values: (number | boolean)[]): unknown {
    const kernel = this.#kernels.get(name);
    if (kernel === undefined) throw new Error('The kernels are of another build.');
    return kernel(...values);
  }

  #report(done: number, parts: number): void {
    Atomics.add(this.#progress, done, parts);
    Atomics.notify(this.#progress, done);
  }

  #waitFor(done: number, parts: number): number {
    for (;;) {
      const now = Atomics.load(this.#progress, done);
      if (now >= parts) return now;
      Atomics.wait(this.#progress, done, now);
    }
  }

  /** Returns the offset of `bytes` bytes that no other array has. */
  #reserve(bytes: number): number {
    const start = Math.ceil(this.#end / alignment) * alignment;
    this.#end = start + bytes;
    if (this.#end + readAhead > this.#memory.buffer.byteLength) this.#grow();
    return start;
  }

  #buffer(): SharedArrayBuffer {
    // Every growth, also by another member, makes another buffer of the same memory.
    const { buffer } = this.#memory;
    this.#buffers.add(buffer);
    return buffer;
  }

  #grow(): void {
    const missing = this.#end + readAhead - this.#memory.buffer.byteLength;
    try {
      this.#memory.grow(Math.ceil(missing / pageSize));
    } catch (error) {
      // Memory never shrinks: another member may have made it larger in the meantime.
      if (this.#end + readAhead > this.#memory.buffer.byteLength) throw error;
    }
  }
}
