/** Milliseconds to wait before restart number `failures` in a row (1, 2, …): doubling up to a maximum. */
export function backoffMs(failures: number, limits: { initialMs: number; maxMs: number }): number {
  return failures <= 0 ? 0 : Math.min(limits.maxMs, limits.initialMs * 2 ** (failures - 1));
}
