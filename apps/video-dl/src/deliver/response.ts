import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { contentDisposition, DomainError, fileName } from '@media-services/http-common';
import type { StreamLimits } from '../capacity.js';
import { outputSeconds, type Plan } from '../plan/plan.js';
import type { Part } from './ranges.js';

/** Media types and file extensions of streams. */
export const formats = {
  mp3: { mediaType: 'audio/mpeg', extension: 'mp3' },
  mp4: { mediaType: 'video/mp4', extension: 'mp4' },
  m4a: { mediaType: 'audio/mp4', extension: 'm4a' },
  ogg: { mediaType: 'audio/ogg', extension: 'ogg' },
  opus: { mediaType: 'audio/ogg', extension: 'opus' },
  webm: { mediaType: 'audio/webm', extension: 'webm' },
  flac: { mediaType: 'audio/flac', extension: 'flac' },
  wav: { mediaType: 'audio/wav', extension: 'wav' },
} as const;

export type StreamFormat = (typeof formats)[keyof typeof formats];

/** A stream whose every byte is determined before the first is sent. */
export interface KnownFile {
  readonly totalBytes: number;
  /** Strong: the same tag means the same bytes. Null if two requests may get different bytes undetected. */
  readonly etag: string | null;
  /** Exact duration of its media; absent if the plan states it. */
  readonly seconds?: number;
  /** Whether parts of it can be requested. */
  readonly hasRanges: boolean;
}

/** What the client does with the stream. */
export interface SaveAs {
  /** With or without the extension; the page's title by default. */
  readonly name?: string | undefined;
  /** Whether a browser plays the stream instead of saving it. */
  readonly isInline?: boolean | undefined;
}

interface DescribedStream {
  readonly format: StreamFormat;
  /** Null if the size is unknown until ffmpeg's last byte. */
  readonly file: KnownFile | null;
  /** The part to send; null for all. */
  readonly range: Part | null;
  /** Bytes before the media that the plan's estimate doesn't include. */
  readonly headerBytes?: number;
  readonly saveAs: SaveAs | undefined;
}

/** The headers of a stream, the same for GET and HEAD. */
export function streamHeaders(
  plan: Plan,
  { format, file, range, headerBytes = 0, saveAs }: DescribedStream,
): Record<string, string> {
  const seconds = file?.seconds ?? outputSeconds(plan, plan.expected.seconds);
  return {
    'Content-Type': format.mediaType,
    'Content-Disposition': dispositionOf(plan, format.extension, saveAs),
    'Accept-Ranges': file?.hasRanges === true ? 'bytes' : 'none',
    'Cache-Control': 'no-store',
    // A buffering proxy would delay the whole stream.
    'X-Accel-Buffering': 'no',
    ...(file === null ? estimatedLength(plan, headerBytes) : exactLength(file, range)),
    ...(seconds !== null && { 'X-Content-Duration': String(seconds) }),
  };
}

/** The `Content-Disposition` of a response. */
export function dispositionOf(
  { id, title }: Pick<Plan, 'id' | 'title'>,
  extension: string,
  { name, isInline }: SaveAs = {},
): string {
  const hasExtension = name?.toLowerCase().endsWith(`.${extension}`) === true;
  const stem = hasExtension ? name.slice(0, -extension.length - 1) : (name ?? title);
  return contentDisposition(fileName(stem, extension), { id, isInline });
}

function estimatedLength({ estimatedBytes }: Plan, headerBytes: number): Record<string, string> {
  return estimatedBytes === null ? {} : { 'Estimated-Content-Length': String(estimatedBytes + headerBytes) };
}

function exactLength({ totalBytes, etag }: KnownFile, range: Part | null): Record<string, string> {
  const { start, end } = range ?? { start: 0, end: totalBytes - 1 };
  return {
    'Content-Length': String(end - start + 1),
    ...(range !== null && { 'Content-Range': `bytes ${start}-${end}/${totalBytes}` }),
    ...(etag !== null && { ETag: etag }),
  };
}

interface ClientWriterOptions {
  readonly signal: AbortSignal;
  readonly limits: Pick<StreamLimits, 'clientIdleTimeoutMs' | 'minClientBytesPerMinute'>;
  abort(reason: DomainError): void;
}

const minuteMs = 60_000;

/** Writes to the client with backpressure and ends the stream when it is too slow to keep its slot. */
export class ClientWriter {
  readonly #response: ServerResponse;
  readonly #options: ClientWriterOptions;
  /** Since the last check: time spent waiting for the client, and bytes it took. */
  #waitedMs = 0;
  #takenBytes = 0;

  constructor(response: ServerResponse, options: ClientWriterOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** @throws the signal's reason when that aborts. */
  async write(...parts: readonly Uint8Array[]): Promise<void> {
    this.#options.signal.throwIfAborted();
    let hasRoom = true;
    // Node joins what is written in one turn of the event loop into one call to the system.
    for (const part of parts) {
      this.#takenBytes += part.length;
      hasRoom = this.#response.write(part);
    }
    if (hasRoom) return;
    const startedAt = performance.now();
    await this.#until('drain');
    this.#countWait(performance.now() - startedAt);
  }

  /** Only counts time spent waiting for the client, so a slow site doesn't count against it. */
  #countWait(waitedMs: number): void {
    this.#waitedMs += waitedMs;
    if (this.#waitedMs < minuteMs) return;
    const { limits } = this.#options;
    if (this.#takenBytes * (minuteMs / this.#waitedMs) < limits.minClientBytesPerMinute)
      this.#options.abort(slowClient(limits));
    this.#waitedMs = 0;
    this.#takenBytes = 0;
  }

  /** Ends the response and waits until the operating system has taken all of it. */
  async end(): Promise<void> {
    this.#options.signal.throwIfAborted();
    const finished = this.#until('finish');
    this.#response.end();
    await finished;
  }

  async #until(event: 'drain' | 'finish'): Promise<void> {
    const { signal, limits } = this.#options;
    const timer = setInterval(() => this.#options.abort(idleClient(limits)), limits.clientIdleTimeoutMs);
    try {
      await once(this.#response, event, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clearInterval(timer);
    }
  }
}

function slowClient({ minClientBytesPerMinute }: ClientWriterOptions['limits']): DomainError {
  return new DomainError(
    'timeout',
    `The client read fewer than ${minClientBytesPerMinute} bytes in a minute.`,
  );
}

function idleClient({ clientIdleTimeoutMs }: ClientWriterOptions['limits']): DomainError {
  return new DomainError('timeout', `The client read nothing for ${clientIdleTimeoutMs / 1000} s.`);
}
