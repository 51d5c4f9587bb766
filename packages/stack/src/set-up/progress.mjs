const heartbeatMs = 15_000;
const clearLine = '\r\x1b[2K';

/**
 * Shows what runs and how long it takes. On a terminal the running step is one line
 * that is rewritten; elsewhere it is a line at the start, one at the end, and a sign
 * of life in between.
 */
export class Progress {
  #out;
  #live;

  /** @param {NodeJS.WriteStream} out */
  constructor(out = process.stdout) {
    this.#out = out;
    this.#live = Boolean(out.isTTY) && process.env.CI === undefined;
  }

  /**
   * A line of its own.
   * @param {string} text
   */
  say(text) {
    this.#out.write(`${text}\n`);
  }

  /**
   * Runs one step; `work` is given a function that takes lines of progress and may
   * return a short text that is shown behind the finished step.
   * @template T
   * @param {string} name
   * @param {(log: (line: string) => void) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async step(name, work) {
    const startedAt = performance.now();
    const seconds = () => Math.round((performance.now() - startedAt) / 1000);
    let latest = '';
    const draw = () => {
      const width = (this.#out.columns ?? 80) - 1;
      this.#out.write(clearLine + `… ${name}  ${seconds()} s  ${latest}`.slice(0, width));
    };
    const log = (/** @type {string} */ line) => {
      latest = line.trim();
      if (latest === '') return;
      if (this.#live) draw();
    };
    if (this.#live) draw();
    else this.#out.write(`… ${name}\n`);
    const timer = setInterval(
      () => (this.#live ? draw() : this.#out.write(`  ${name}: ${seconds()} s  ${latest.slice(0, 120)}\n`)),
      this.#live ? 1000 : heartbeatMs,
    );
    try {
      const result = await work(log);
      const detail = typeof result === 'string' && result !== '' ? `: ${result}` : '';
      this.#finish(`✓ ${name}${detail}${seconds() >= 1 ? ` (${seconds()} s)` : ''}`);
      return result;
    } catch (error) {
      this.#finish(`✗ ${name} (${seconds()} s)`);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  /** @param {string} text */
  #finish(text) {
    this.#out.write(`${this.#live ? clearLine : ''}${text}\n`);
  }
}
