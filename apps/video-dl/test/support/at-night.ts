/**
 * Cases that only `npm run test:nightly` runs: by day, others take the same way through the
 * code with another container, codec or output.
 */
export function atNight<Case>(cases: readonly Case[]): readonly Case[] {
  return isNight ? cases : [];
}

export const isNight = process.env['TEST_NIGHTLY'] === '1';
