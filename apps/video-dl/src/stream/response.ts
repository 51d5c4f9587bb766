import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { DomainError } from '@media-services/http-common';
import type { Plan } from '../plan/plan.js';
import { attachment } from './file-name.js';
import { watched, type StreamAbort, type StreamLimits } from './limits.js';
import type { Selection } from './ranges.js';

/** A stream of which every byte is decided before the first is sent. */
export interface KnownFile {
  readonly totalBytes: number;
  /** Strong; null where two requests may get different bytes without anybody noticing. */
  readonly etag: string | null;
  /** Whether parts of it can be asked for. */
  readonly hasRanges: boolean;
}

interface Answer {
  /** Null where only ffmpeg's last byte tells the length. */
  readonly file: KnownFile | null;
  readonly selection: Selection;
  /** What comes in front of the media and is not in the plan's estimate. */
  readonly headerBytes: number;
}

/** The headers of a stream, the same for GET and HEAD. */
export function streamHeaders(plan: Plan, { file, selection, headerBytes }: Answer): Record<string, string> {
  const isMp3 = plan.target === 'mp3';
  return {
    'Content-Type': isMp3 ? 'audio/mpeg' : 'video/mp4',
    'Content-Disposition': attachment(plan.title, isMp3 ? 'mp3' : 'mp4'),
    'Accept-Ranges': file?.hasRanges === true ? 'bytes' : 'none',
    'Cache-Control': 'no-store',
    // A proxy that stores the stream first would make its reader wait for all of it.
    'X-Accel-Buffering': 'no',
    ...(file === null ? estimatedLength(plan, headerBytes) : exactLength(file, selection)),
    ...(plan.durationSeconds !== null && { 'X-Content-Duration': String(plan.durationSeconds) }),
  };
}

function estimatedLength({ estimatedBytes }: Plan, headerBytes: number): Record<string, string> {
  return estimatedBytes === null ? {} : { 'Estimated-Content-Length': String(estimatedBytes + headerBytes) };
}

function exactLength({ totalBytes, etag }: KnownFile, selection: Selection): Record<string, string> {
  const validator: Record<string, string> = etag === null ? {} : { ETag: etag };
  if (selection.kind !== 'part') return { 'Content-Length': String(totalBytes), ...validator };
  const { start, end } = selection;
  return {
    'Content-Length': String(end - start + 1),
    'Content-Range': `bytes ${start}-${end}/${totalBytes}`,
    ...validator,
  };
}

/** 206 where a part was chosen. @throws DomainError `range_not_satisfiable`, with the header that tells the size set on the response */
export function statusOf(selection: Selection, file: KnownFile | null, response: ServerResponse): 200 | 206 {
  if (selection.kind !== 'unsatisfiable') return selection.kind === 'part' ? 206 : 200;
  const size = file?.totalBytes ?? 0;
  response.setHeader('Content-Range', `bytes */${size}`);
  throw new DomainError('range_not_satisfiable', `The file has ${size} bytes, so nothing begins there.`);
}

/** A writer for the client of a stream, whose silence ends the stream. */
export function clientWriter(
  response: ServerResponse,
  { abort, limits: { clientIdleTimeoutMs } }: { abort: StreamAbort; limits: StreamLimits },
): ClientWriter {
  return new ClientWriter(response, {
    signal: abort.signal,
    idleTimeoutMs: clientIdleTimeoutMs,
    onIdle: () =>
      abort.abort(new DomainError('timeout', `The client took nothing for ${clientIdleTimeoutMs / 1000} s.`)),
  });
}

/** Writes to the client no faster than it reads. */
class ClientWriter {
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
