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
  { abort, limits }: { abort: StreamAbort; limits: StreamLimits },
): ClientWriter {
  const { clientIdleTimeoutMs, minClientBytesPerMinute } = limits;
  return new ClientWriter(response, {
    signal: abort.signal,
    idleTimeoutMs: clientIdleTimeoutMs,
    minBytesPerMinute: minClientBytesPerMinute,
    onSlow: () =>
      abort.abort(
        new DomainError('timeout', `The client took less than ${minClientBytesPerMinute} bytes in a minute.`),
      ),
    onIdle: () =>
      abort.abort(new DomainError('timeout', `The client took nothing for ${clientIdleTimeoutMs / 1000} s.`)),
  });
}

interface ClientWriterOptions {
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  /** For each minute spent on waiting for the client; 0 for no limit. */
  readonly minBytesPerMinute: number;
  readonly onIdle: () => void;
  readonly onSlow: () => void;
}

const minuteMs = 60_000;

/** Writes to the client no faster than it reads, and tells when that is too slow to hold a place for. */
export class ClientWriter {
  readonly #response: ServerResponse;
  readonly #options: ClientWriterOptions;
  /** Since the last look: time spent on waiting for the client, and what it took. */
  #waitedMs = 0;
  #takenBytes = 0;

  constructor(response: ServerResponse, options: ClientWriterOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** @throws the signal's reason when that aborts. */
  async write(part: Uint8Array): Promise<void> {
    this.#options.signal.throwIfAborted();
    this.#takenBytes += part.length;
    if (this.#response.write(part)) return;
    const startedAt = performance.now();
    await this.#until('drain');
    this.#countWait(performance.now() - startedAt);
  }

  /** Only time that the stream waited for its client counts: a slow site is not the client's doing. */
  #countWait(waitedMs: number): void {
    this.#waitedMs += waitedMs;
    if (this.#waitedMs < minuteMs) return;
    if (this.#takenBytes * (minuteMs / this.#waitedMs) < this.#options.minBytesPerMinute)
      this.#options.onSlow();
    this.#waitedMs = 0;
    this.#takenBytes = 0;
  }

  /** Ends the response, and waits until the client's kernel has all of it. */
  async end(): Promise<void> {
    this.#options.signal.throwIfAborted();
    const finished = this.#until('finish');
    this.#response.end();
    await finished;
  }

  async #until(event: 'drain' | 'finish'): Promise<void> {
    const { signal, idleTimeoutMs, onIdle } = this.#options;
    try {
      await watched(idleTimeoutMs, onIdle, () => once(this.#response, event, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }
}
