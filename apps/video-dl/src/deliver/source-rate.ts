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
  /** Milliseconds; defaults to the system clock. */
  readonly now?: () => number;
}

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
  #samples: Sample[] = [];
  #last: Progress;
  #waitedMs = 0;
  #silentMs = 0;
  #waitingSince: number | undefined;

  constructor(options: SourceRateOptions) {
    this.#options = options;
    this.#last = options.progress();
    this.#timer = setInterval(() => this.sample(), sampleMs);
  }

  /** Counts the time until `work` settles as waiting for the source. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#waitingSince = this.#now();
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

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }

  #countWait(): void {
    if (this.#waitingSince === undefined) return;
    const now = this.#now();
    this.#waitedMs += now - this.#waitingSince;
    this.#waitingSince = now;
  }

  /** Records what arrived since the last sample. A timer calls it once a second. */
  sample(): void {
    this.#countWait();
    const now = this.#options.progress();
    const bytes = now.bytes - this.#last.bytes;
    const mediaSeconds = now.mediaSeconds - this.#last.mediaSeconds;
    this.#samples.push({ waitedMs: this.#waitedMs, bytes, mediaSeconds });
    this.#silentMs = bytes > 0 || mediaSeconds > 0 ? 0 : this.#silentMs + this.#waitedMs;
    this.#last = now;
    this.#waitedMs = 0;
    if (this.#silentMs >= this.#options.maxSilenceMs) this.#options.onSilent();
    else if (this.#isStarved(this.#options.isCrowded() ? crowdedWindowMs : windowMs))
      this.#options.onStarved();
  }

  /** Checks the last `overMs` of waiting time. */
  #isStarved(overMs: number): boolean {
    let waitedMs = 0;
    let bytes = 0;
    let mediaSeconds = 0;
    let oldest = this.#samples.length;
    while (oldest > 0 && waitedMs < overMs) {
      oldest -= 1;
      const sample = this.#samples[oldest];
      waitedMs += sample?.waitedMs ?? 0;
      bytes += sample?.bytes ?? 0;
      mediaSeconds += sample?.mediaSeconds ?? 0;
    }
    if (waitedMs < overMs) return false;
    if (overMs === windowMs) this.#samples = this.#samples.slice(oldest);
    const isSlow = bytes * (60_000 / waitedMs) < this.#options.minBytesPerMinute;
    return isSlow && mediaSeconds * (1_000 / waitedMs) < minMediaRate;
  }
}

export function slowSource(): DomainError {
  return new DomainError('upstream_timeout', "The site's media server sends too slowly. Try again later.");
}
