/** Runs of a fuzz test: few in `npm test`, `FUZZ_FACTOR` times as many in a long one (see CONTRIBUTING.md). */
export function fuzzRuns(few: number): number {
  return few * Number(process.env['FUZZ_FACTOR'] ?? '1');
}
