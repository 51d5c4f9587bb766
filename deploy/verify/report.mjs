/** Runs named checks one after the other and counts them. */
export class Report {
  passed = 0;
  failed = 0;

  /**
   * @param {string} name what holds
   * @param {() => Promise<string | void>} check throws where it does not; its text is shown
   */
  async check(name, check) {
    const started = Date.now();
    try {
      const note = await check();
      this.passed += 1;
      this.#print(`ok    ${name}`, note, started);
    } catch (error) {
      this.failed += 1;
      this.#print(`FAIL  ${name}`, error instanceof Error ? error.message : String(error), started);
    }
  }

  #print(line, note, started) {
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${line} (${seconds} s)${note ? `\n      ${note}` : ''}\n`);
  }

  summary() {
    return `${this.passed} passed, ${this.failed} failed`;
  }
}
