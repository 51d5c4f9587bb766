/** The outcome of checking a result. */
export interface Verdict {
  /** Empty if everything is correct. */
  readonly problems: readonly string[];
  /** A short summary of the result. */
  readonly summary: string;
}

/** Collects all problems instead of stopping at the first. */
export class Findings {
  readonly problems: string[] = [];

  expect(condition: boolean, problem: string): void {
    if (!condition) this.problems.push(problem);
  }
}
