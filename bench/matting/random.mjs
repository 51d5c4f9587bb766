/**
 * A small seeded generator (mulberry32), so that every run makes the same images.
 * @param {number} seed
 */
export function seededRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    /** @param {number} min @param {number} max */
    between: (min, max) => min + (max - min) * next(),
    /** @template T @param {readonly [T, ...T[]]} items @returns {T} */
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  };
}

/** @typedef {ReturnType<typeof seededRandom>} Random */
