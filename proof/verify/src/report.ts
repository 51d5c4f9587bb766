/** Runs named checks one after the other and counts them. */
export class Report {
  #passed = 0;
  #failed = 0;

  get failed(): number {
    return this.#failed;
  }

  /**
   * @param name what holds
   * @param check throws where it does not; its text is shown
   */
  async check(name: string, check: () => Promise<unknown>): Promise<void> {
    const started = performance.now();
    const show = (sign: string, note: unknown) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      process.stdout.write(
        `${sign}${name} (${seconds} s)${typeof note === 'string' && note !== '' ? `\n      ${note}` : ''}\n`,
      );
    };
    try {
      const note = await check();
      this.#passed += 1;
      show('ok    ', note);
    } catch (error) {
      this.#failed += 1;
      show('FAIL  ', error instanceof Error ? error.message : String(error));
    }
  }

  /** Prints the totals, which decide this process's exit code. */
  end(): void {
    process.stdout.write(`${this.#passed} passed, ${this.#failed} failed\n`);
    if (this.#failed > 0) process.exitCode = 1;
  }
}
