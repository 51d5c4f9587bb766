/**
 * Threads that make one cut-out together. Each member runs the same code on the same memory and
 * takes parts of every step, so a member that is late only finds less to do. The result does
 * not depend on who does which part.
 */
export interface Team {
  /** Does `work` for all of `0 … count`, in ranges, and returns when every member's are done. */
  each(count: number, work: (from: number, to: number) => void): void;
  /** Memory that all members see; its content is undefined. */
  bytes(length: number): Uint8Array;
  floats(length: number): Float32Array;
}

/** A team of one. */
export const alone: Team = {
  each: (count, work) => work(0, count),
  bytes: (length) => new Uint8Array(length),
  floats: (length) => new Float32Array(length),
};
