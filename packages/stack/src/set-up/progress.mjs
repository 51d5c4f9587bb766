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
      const time = seconds() > 0 ? `${seconds()} s` : '';
      const line = [`… ${name}`, time, latest].filter(Boolean).join('  ');
      if (this.#live) this.#out.write(clearLine + line.slice(0, (this.#out.columns ?? 80) - 1));
      else this.say(line);
    };
    const log = (/** @type {string} */ line) => {
      latest = line.trim() || latest;
      if (this.#live) draw();
    };
    const finish = (/** @type {string} */ text) => this.say(`${this.#live ? clearLine : ''}${text}`);
    draw();
    const timer = setInterval(draw, this.#live ? 1000 : heartbeatMs);
    try {
      const result = await work(log);
      const detail = typeof result === 'string' && result !== '' ? `: ${result}` : '';
      finish(`✓ ${name}${detail}${seconds() >= 1 ? ` (${seconds()} s)` : ''}`);
      return result;
    } catch (error) {
      finish(`✗ ${name} (${seconds()} s)`);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }
}
