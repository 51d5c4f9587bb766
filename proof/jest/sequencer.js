/** Files that take longest, mostly waiting. Started last, they would keep one worker busy at the end. */
const long = /fault-matrix|clips|double\/sites|parsers\.security|hostile-|engine\/update|kill-matrix|keys/;

/** Starts long files first, then large ones. */
export default class Sequencer {
  /**
   * @template {{ readonly path: string, readonly context: { readonly hasteFS: { getSize(path: string): number | null } } }} Test
   * @param {readonly Test[]} tests
   */
  sort(tests) {
    const sizeOf = (/** @type {Test} */ { path, context }) =>
      long.test(path) ? Number.MAX_SAFE_INTEGER : (context.hasteFS.getSize(path) ?? 0);
    return tests.toSorted((left, right) => sizeOf(right) - sizeOf(left));
  }

  /** Durations are not recorded: every run has the same order. */
  cacheResults() {}
}
