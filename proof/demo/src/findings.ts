/** What a look at a result came to. */
export interface Verdict {
  /** Empty where everything is right. */
  readonly problems: readonly string[];
  /** The result in a few words. */
  readonly summary: string;
}

/** Collects what is wrong instead of stopping at the first. */
export class Findings {
  readonly problems: string[] = [];

  expect(condition: boolean, problem: string): void {
    if (!condition) this.problems.push(problem);
  }
}
