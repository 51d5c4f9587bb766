/** Pseudo-random numbers that are the same in every run. */
export interface Random {
  /** 0-1, without 1. */
  next(): number;
  between(min: number, max: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/**
 * A small seeded generator (mulberry32), so that every run makes the same images.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (min, max) => min + (max - min) * next(),
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  };
}
