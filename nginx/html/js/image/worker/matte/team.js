// Generated from apps/bg-removal/src/matte/team.ts by `npm run docs:generate`. Edit that file instead.
/** A team of one. */
export const alone = {
  each: (count, work) => work(0, count),
  decide: (question) => question(),
  bytes: (length) => new Uint8Array(length),
  floats: (length) => new Float32Array(length),
};
