/** Frames in a row whose durations are averaged: more than a second of most audio. */
const windowFrames = 64;
/** Times in some containers are rounded to milliseconds, so durations differ by this share. */
const maxSpread = 1 / 8;
const tolerance = 0.01;

const sampleRates = [
  ...[8000, 11_025, 12_000, 16_000, 22_050, 24_000],
  ...[32_000, 44_100, 48_000, 64_000, 88_200, 96_000],
];

/**
 * Detects copied audio whose sample rate changes. Each frame has the same number of samples, so its duration
 * changes by the ratio of the rates.
 */
export class FramePace {
  /** Total duration of frames at another rate than the first. */
  changed = 0;
  #usual: number | null = null;
  /** Of a window at another rate that doesn't count yet: one alone may have wrong times. */
  #suspect: number | null = null;
  #frames = 0;
  #sum = 0;
  #shortest = Infinity;
  #longest = 0;

  add(duration: number, frames: number): void {
    this.#frames += frames;
    this.#sum += duration * frames;
    if (duration < this.#shortest) this.#shortest = duration;
    if (duration > this.#longest) this.#longest = duration;
    if (this.#frames >= windowFrames) this.#endWindow();
  }

  /** Frames of different durations have gaps between them, or times that say little. */
  #endWindow(): void {
    const mean = this.#sum / this.#frames;
    if (mean > 0 && this.#longest - this.#shortest <= mean * maxSpread) {
      this.#usual ??= mean;
      if (!isOtherRate(mean / this.#usual)) this.#suspect = null;
      else if (this.#suspect === null) this.#suspect = this.#sum;
      else {
        this.changed += this.#suspect + this.#sum;
        this.#suspect = 0;
      }
    }
    this.#frames = 0;
    this.#sum = 0;
    this.#shortest = Infinity;
    this.#longest = 0;
  }
}

function isOtherRate(ratio: number): boolean {
  if (Math.abs(ratio - 1) <= 2 * tolerance) return false;
  return sampleRates.some((rate) =>
    sampleRates.some((other) => Math.abs((ratio * other) / rate - 1) <= tolerance),
  );
}
