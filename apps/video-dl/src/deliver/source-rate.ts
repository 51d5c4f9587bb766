import { DomainError } from '@media-services/http-common';

/** What a source has delivered so far. */
export interface Progress {
  readonly bytes: number;
  /** Seconds of output; 0 if it isn't measured. */
  readonly mediaSeconds: number;
}

interface SourceRateOptions {
  progress(): Progress;
  /** 0 for no limit. */
  readonly minBytesPerMinute: number;
  /** Whether other requests wait for a slot. */
  readonly isCrowded: () => boolean;
  /** Called when too little arrives. */
  onStarved(): void;
  readonly maxSilenceMs: number;
  /** Called when nothing arrives for `maxSilenceMs`. */
  onSilent(): void;
}

/** Everything so far, at one time. */
interface Sample extends Progress {
  readonly waitedMs: number;
}

const sampleMs = 1_000;
const windowMs = 60_000;
/** When others wait for a slot, a source that has almost stopped loses its slot sooner. */
const crowdedWindowMs = 10_000;
/** Media seconds per second. A low bit rate is fine if the source sends about as fast as it plays. */
const minMediaRate = 0.25;

/**
 * Reports when a source is too slow to keep its slot. Only counts time in which the stream
 * waits for its source, so a slow client doesn't count against it.
 */
export class SourceRate implements Disposable {
  readonly #options: SourceRateOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #samples: Sample[];
  #waitedMs = 0;
  /** The waiting time at which something arrived last. */
  #heardAtMs = 0;
  #waitingSince: number | undefined;

  constructor(options: SourceRateOptions) {
    this.#options = options;
    this.#samples = [{ ...options.progress(), waitedMs: 0 }];
    this.#timer = setInterval(() => this.#sample(), sampleMs);
  }

  /** Counts the time until `work` settles as waiting for the source. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#waitingSince = performance.now();
    try {
      return await work;
    } finally {
      this.#countWait();
      this.#waitingSince = undefined;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #countWait(): void {
    if (this.#waitingSince === undefined) return;
    const now = performance.now();
    this.#waitedMs += now - this.#waitingSince;
    this.#waitingSince = now;
  }

  /** Records what has arrived. */
  #sample(): void {
    this.#countWait();
    const { maxSilenceMs, isCrowded } = this.#options;
    const now = { ...this.#options.progress(), waitedMs: this.#waitedMs };
    const last = this.#samples.at(-1) ?? now;
    if (now.bytes > last.bytes || now.mediaSeconds > last.mediaSeconds) this.#heardAtMs = now.waitedMs;
    this.#samples.push(now);
    if (now.waitedMs - this.#heardAtMs >= maxSilenceMs) this.#options.onSilent();
    else if (this.#isStarved(now, isCrowded() ? crowdedWindowMs : windowMs)) this.#options.onStarved();
  }

  /** Checks the last `overMs` of waiting time. */
  #isStarved(now: Sample, overMs: number): boolean {
    const index = this.#samples.findLastIndex(({ waitedMs }) => now.waitedMs - waitedMs >= overMs);
    const from = this.#samples[index];
    if (from === undefined) return false;
    if (overMs === windowMs) this.#samples.splice(0, index);
    const waitedMs = now.waitedMs - from.waitedMs;
    const isSlow = (now.bytes - from.bytes) * (60_000 / waitedMs) < this.#options.minBytesPerMinute;
    return isSlow && (now.mediaSeconds - from.mediaSeconds) * (1_000 / waitedMs) < minMediaRate;
  }
}

export function slowSource(): DomainError {
  return new DomainError('upstream_timeout', "The site's media server sends too slowly. Try again later.");
}
