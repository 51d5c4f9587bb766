const heartbeatMs = 15_000;
const clearLine = '\r\x1b[2K';

/**
 * Shows the running step and its duration. On a terminal it rewrites one line; elsewhere it
 * prints a line at the start, a line at the end, and a regular progress line in between.
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
   * Prints a line.
   * @param {string} text
   */
  say(text) {
    this.#out.write(`${text}\n`);
  }

  /**
   * Runs one step. `work` receives a function that logs progress, and may return a short text
   * to show after the step's name.
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
