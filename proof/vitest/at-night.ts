export const isNight = process.env['TEST_NIGHTLY'] === '1';

/**
 * Cases that only `npm test -- --nightly` runs. By day, other cases follow the same path
 * through the code, with another container, codec, output, size or language.
 */
export function atNight<Case>(cases: readonly Case[]): readonly Case[] {
  return isNight ? cases : [];
}
