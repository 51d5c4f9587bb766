import { DomainError } from '@media-services/http-common';

/** What a source has brought so far. */
export interface Progress {
  readonly bytes: number;
  /** Of the output; 0 where nobody looks into it. */
  readonly mediaSeconds: number;
}

interface SourceRateOptions {
  progress(): Progress;
  /** 0 for no such limit. */
  readonly minBytesPerMinute: number;
  /** Whether others wait for a slot. */
  readonly isCrowded: () => boolean;
  /** Too little came, or nothing at all for `maxSilenceMs`. */
  onStarved(): void;
  readonly maxSilenceMs: number;
  onSilent(): void;
  /** Milliseconds; the clock unless given. */
  readonly now?: () => number;
}

interface Second extends Progress {
  readonly waitedMs: number;
}

const sampleMs = 1_000;
const windowMs = 60_000;
/** A slot that others wait for is not kept for a source that has almost stopped. */
const crowdedWindowMs = 10_000;
/** Sources that send as fast as they play are fine, however few bytes that takes. */
const minMediaRate = 0.25;

/**
 * Reports when a source sends too slowly to hold a slot for it. Only time in which the
 * stream waits for its source counts: a slow client is not the source's doing.
 */
export class SourceRate implements Disposable {
  readonly #options: SourceRateOptions;
  readonly #timer: NodeJS.Timeout;
  #seconds: Second[] = [];
  #last: Progress;
  #waitedMs = 0;
  #silentMs = 0;
  #waitingSince: number | undefined;

  constructor(options: SourceRateOptions) {
    this.#options = options;
    this.#last = options.progress();
    this.#timer = setInterval(() => this.sample(), sampleMs);
  }

  /** Waits for the source. */
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

  /** Samples what came since the last sample; a timer calls it once a second. */
  sample(): void {
    this.#countWait();
    const now = this.#options.progress();
    const bytes = now.bytes - this.#last.bytes;
    const mediaSeconds = now.mediaSeconds - this.#last.mediaSeconds;
    this.#seconds.push({ waitedMs: this.#waitedMs, bytes, mediaSeconds });
    this.#silentMs = bytes > 0 || mediaSeconds > 0 ? 0 : this.#silentMs + this.#waitedMs;
    this.#last = now;
    this.#waitedMs = 0;
    if (this.#silentMs >= this.#options.maxSilenceMs) this.#options.onSilent();
    else if (this.#isStarved(this.#options.isCrowded() ? crowdedWindowMs : windowMs))
      this.#options.onStarved();
  }

  /** Looks back over so much time of waiting. */
  #isStarved(overMs: number): boolean {
    let waitedMs = 0;
    let bytes = 0;
    let mediaSeconds = 0;
    let oldest = this.#seconds.length;
    while (oldest > 0 && waitedMs < overMs) {
      oldest -= 1;
      const second = this.#seconds[oldest];
      waitedMs += second?.waitedMs ?? 0;
      bytes += second?.bytes ?? 0;
      mediaSeconds += second?.mediaSeconds ?? 0;
    }
    if (waitedMs < overMs) return false;
    if (overMs === windowMs) this.#seconds = this.#seconds.slice(oldest);
    const isSlow = bytes * (60_000 / waitedMs) < this.#options.minBytesPerMinute;
    return isSlow && mediaSeconds * (1_000 / waitedMs) < minMediaRate;
  }
}

/** Why a stream ends whose source sends too slowly. */
export function slowSource(): DomainError {
  return new DomainError(
    'upstream_timeout',
    "The site's media server sends too slowly to keep a slot for it. Try again later.",
  );
}
