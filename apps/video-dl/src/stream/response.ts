import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Plan } from '../plan/plan.js';
import { attachment } from './file-name.js';
import { watched } from './limits.js';
import { estimateMp3HeaderBytes } from './mp3-header.js';

/**
 * The headers of a stream, the same for GET and HEAD.
 *
 * @param cover the picture for the tag of an MP3, which may be larger than the sound.
 */
export function streamHeaders(plan: Plan, cover: Uint8Array | null): Record<string, string> {
  const isMp3 = plan.target === 'mp3';
  const headerBytes = isMp3 ? estimateMp3HeaderBytes(plan, cover) : 0;
  return {
    'Content-Type': isMp3 ? 'audio/mpeg' : 'video/mp4',
    'Content-Disposition': attachment(plan.title, isMp3 ? 'mp3' : 'mp4'),
    'Accept-Ranges': 'none',
    'Cache-Control': 'no-store',
    ...(plan.estimatedBytes !== null && {
      'Estimated-Content-Length': String(plan.estimatedBytes + headerBytes),
    }),
    ...(plan.durationSeconds !== null && { 'X-Content-Duration': String(plan.durationSeconds) }),
  };
}

/** Writes to the client no faster than it reads. */
export class ClientWriter {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #idleTimeoutMs: number;
  readonly #onIdle: () => void;

  constructor(
    response: ServerResponse,
    options: { signal: AbortSignal; idleTimeoutMs: number; onIdle: () => void },
  ) {
    this.#response = response;
    this.#signal = options.signal;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#onIdle = options.onIdle;
  }

  /** @throws the signal's reason when that aborts. */
  async write(part: Uint8Array): Promise<void> {
    this.#signal.throwIfAborted();
    if (!this.#response.write(part)) await this.#until('drain');
  }

  /** Ends the response, and waits until the client's kernel has all of it. */
  async end(): Promise<void> {
    this.#signal.throwIfAborted();
    const finished = this.#until('finish');
    this.#response.end();
    await finished;
  }

  async #until(event: 'drain' | 'finish'): Promise<void> {
    try {
      await watched(this.#idleTimeoutMs, this.#onIdle, () =>
        once(this.#response, event, { signal: this.#signal }),
      );
    } catch (error) {
      this.#signal.throwIfAborted();
      throw error;
    }
  }
}
