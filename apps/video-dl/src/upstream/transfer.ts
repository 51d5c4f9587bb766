import { DomainError } from '@media-services/http-common';
import type { ByteRange } from './byte-range.js';
import type { RemoteObject } from './remote-object.js';
import { RetryBudget } from './retry-budget.js';
import type { Rejection } from '../formats/rejection.js';
import { protocolFault, faultFrom, finalFault, TransferFault } from './transfer-fault.js';
import { requestPart, type UpstreamPart } from './upstream-part.js';

interface AttemptInput {
  readonly object: RemoteObject;
  readonly budget: RetryBudget;
  readonly signal: AbortSignal;
}

/** We request the next chunk when this share of the current one is left … */
const aheadShare = 0.1;
/** … or when it will end within this time: about a round trip plus a new connection. */
const aheadMs = 500;

/**
 * Streams bytes of one object to the reader. Requests chunks where the server needs
 * that, resumes after a dropped connection, and joins responses only when they all
 * come from the same version of the object.
 */
export class Transfer {
  readonly #input: AttemptInput;
  /** Null if the range starts past the end of the object. */
  readonly #first: UpstreamPart | null;
  /** The next chunk, requested before the current one ends; null when that failed. */
  #ahead: Promise<UpstreamPart | null> | null = null;
  #position: number;
  /** Last byte wanted; null while the end of the object is unknown. */
  #end: number | null;

  private constructor(input: AttemptInput, range: ByteRange, first: UpstreamPart | null) {
    this.#input = input;
    this.#position = range.start;
    this.#end = range.end;
    this.#first = first;
    this.#learnEnd();
  }

  /**
   * Starts a transfer. Resolves once the first response has arrived and passed the checks.
   * @param part null reads everything, without a Range header if possible
   * @throws TransferFault when it can't be recovered; `signal.reason`
   */
  static async open(object: RemoteObject, part: ByteRange | null, signal: AbortSignal): Promise<Transfer> {
    const range = part ?? { start: 0, end: null };
    const input = { object, budget: new RetryBudget(object.context.limits), signal };
    const requested =
      part === null && object.chunkBytes === null ? null : chunkOf(object, range.start, range.end);
    return new Transfer(input, range, await attempt(input, requested, range.end));
  }

  /** Whether the range starts past the end of the object. */
  get isPastEnd(): boolean {
    return this.#first === null;
  }

  /** Size of the whole object in bytes; null if the server doesn't say. */
  get total(): number | null {
    return this.#input.object.identity.total;
  }

  /** As the media server states it. */
  get contentType(): string | undefined {
    return this.#first?.response.header('content-type');
  }

  /** Whether the server sent only the requested part. */
  get isPart(): boolean {
    return this.#first?.response.status === 206;
  }

  /** URL after redirects. */
  get url(): string | undefined {
    return this.#first?.response.url;
  }

  /** Abandons the transfer unread. */
  discard(): void {
    this.#first?.response.destroy();
  }

  /**
   * Reads all bytes of a small object.
   * @param excess replaces the error for more than `maxBytes`
   * @throws as `chunks`
   */
  async bytes(maxBytes: number, excess?: Rejection): Promise<Buffer> {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const chunk of this.chunks()) {
      length += chunk.length;
      if (length > maxBytes) throw excess ?? tooLong(maxBytes);
      parts.push(chunk);
    }
    return Buffer.concat(parts);
  }

  /**
   * The bytes; complete when the generator ends.
   * @throws TransferFault when a fault can't be recovered; `signal.reason`
   */
  async *chunks(): AsyncGenerator<Buffer, void, void> {
    try {
      yield* this.#read();
    } finally {
      this.#discardAhead();
    }
  }

  async *#read(): AsyncGenerator<Buffer, void, void> {
    let part = this.#first;
    while (part !== null) {
      let fault: TransferFault | null = null;
      try {
        yield* this.#readPart(part);
        if (this.#isComplete(part)) return;
        if (part.end === null || this.#position <= part.end) fault = endedEarly();
      } catch (error) {
        this.#input.signal.throwIfAborted();
        if (this.#end !== null && this.#position > this.#end) return;
        fault = faultFrom(error);
      }
      if (fault) {
        this.#discardAhead();
        await recover(this.#input, fault);
      }
      part =
        (await this.#takeAhead()) ?? (await attempt(this.#input, this.#chunkAt(this.#position), this.#end));
      this.#learnEnd();
      const endIsMissing =
        this.total === null || this.#end === null ? fault !== null : this.#position <= this.#end;
      if (part === null && endIsMissing) throw protocolFault('lost the end of the file');
    }
  }

  /** Yields the wanted bytes of this response. */
  async *#readPart(part: UpstreamPart): AsyncGenerator<Buffer, void, void> {
    const { response, skip, end, hasSurplus } = part;
    const { object, budget } = this.#input;
    const { context } = object;
    const start = this.#position;
    const startedAt = performance.now();
    let toSkip = skip;
    for await (const received of response.chunks(context.limits.idleTimeoutMs)) {
      context.countReceived(received.length);
      const skipped = Math.min(toSkip, received.length);
      toSkip -= skipped;
      const left = end === null ? received.length : end + 1 - this.#position;
      const chunk =
        skipped === 0 && received.length <= left ? received : received.subarray(skipped, skipped + left);
      if (chunk.length > 0) {
        this.#position += chunk.length;
        budget.received(chunk.length);
        if (end !== null) this.#requestAhead(end, this.#position - start, performance.now() - startedAt);
        yield chunk;
      }
      if (end !== null && this.#position > end && (hasSurplus || received.length - skipped > left)) return;
    }
  }

  /**
   * Requests the next chunk when the current one is about to end.
   * @param end last byte of the current one
   * @param got bytes of it received in `elapsedMs`
   */
  #requestAhead(end: number, got: number, elapsedMs: number): void {
    const { object, signal } = this.#input;
    if (object.chunkBytes === null || this.#ahead !== null || end >= (this.#end ?? 0)) return;
    const left = end + 1 - this.#position;
    const isMostlyRead = left <= aheadShare * (got + left);
    const endsSoon = got >= aheadShare * (got + left) && (left / got) * elapsedMs <= aheadMs;
    if (!isMostlyRead && !endsSoon) return;
    // Ignore a failure here: the chunk is requested again when its turn comes.
    this.#ahead = requestPart(object, this.#chunkAt(end + 1), this.#end, signal).catch(() => null);
  }

  async #takeAhead(): Promise<UpstreamPart | null> {
    const part = await this.#ahead;
    this.#ahead = null;
    this.#input.signal.throwIfAborted();
    return part;
  }

  #chunkAt(start: number): ByteRange {
    return chunkOf(this.#input.object, start, this.#end);
  }

  #discardAhead(): void {
    void this.#ahead?.then((part) => part?.response.destroy());
    this.#ahead = null;
  }

  #isComplete(part: UpstreamPart): boolean {
    // The server stated no length, so a clean end of the response is the end.
    if (this.total === null && part.response.status !== 206) return true;
    return this.#end === null ? part.end === null : this.#position > this.#end;
  }

  #learnEnd(): void {
    if (this.total !== null) this.#end = Math.min(this.#end ?? Infinity, this.total - 1);
  }
}

/** Retries until a response passes the checks or the budget is spent. */
async function attempt(
  input: AttemptInput,
  range: ByteRange | null,
  wantedEnd: number | null,
): Promise<UpstreamPart | null> {
  for (;;) {
    try {
      return await requestPart(input.object, range, wantedEnd, input.signal);
    } catch (error) {
      input.signal.throwIfAborted();
      await recover(input, faultFrom(error));
    }
  }
}

/** Applies the remedy of a fault. @throws the fault when none works */
async function recover({ object, signal, budget }: AttemptInput, fault: TransferFault): Promise<void> {
  object.context.logger.debug(
    { code: fault.failure.code, remedy: fault.remedy, err: fault.failure.cause },
    'upstream fault',
  );
  await budget.spend(fault, signal);
  if (fault.remedy !== 'renew') return;
  try {
    if (await object.renew(signal)) return;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof DomainError ? new TransferFault(error, 'none') : faultFrom(error);
  }
  throw fault;
}

function chunkOf({ chunkBytes }: RemoteObject, start: number, end: number | null): ByteRange {
  if (chunkBytes === null) return { start, end };
  const chunkEnd = start + chunkBytes - 1;
  return { start, end: end === null ? chunkEnd : Math.min(end, chunkEnd) };
}

function tooLong(maxBytes: number): TransferFault {
  const detail = `The site sent a file that is far larger than expected (more than ${maxBytes} bytes). Try again later, or use another page or format.`;
  return finalFault('upstream_error', detail);
}

function endedEarly(): TransferFault {
  const detail =
    "The site's media server stopped before the end of the file and the download couldn't be resumed. Try again.";
  return new TransferFault(new DomainError('upstream_error', detail), 'retry');
}
