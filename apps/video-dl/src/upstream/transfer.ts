import { DomainError } from '@media-services/http-common';
import type { ByteRange } from './byte-range.js';
import type { RemoteObject } from './remote-object.js';
import { RetryBudget } from './retry-budget.js';
import type { TransferContext } from './transfer-context.js';
import { brokenRules, faultFrom, TransferFault } from './transfer-fault.js';
import { contentEncoding, requestPart, type BehindEnd, type UpstreamPart } from './upstream-part.js';

/** The next chunk is requested when so much of the present one is left, in parts of it … */
const aheadShare = 0.1;
/** … or, on a fast line, when it ends within this time: a round trip and a new connection take as long. */
const aheadMs = 500;

/**
 * Bytes of one object on their way to the reader: asked for in chunks where the
 * server wants it so, resumed where a connection died, joined only when every
 * answer is of the same version of the object.
 */
export class Transfer {
  readonly #object: RemoteObject;
  readonly #context: TransferContext;
  readonly #signal: AbortSignal;
  readonly #budget: RetryBudget;
  readonly #first: UpstreamPart | BehindEnd;
  /** The next chunk, requested before the present one ends; null when that failed. */
  #ahead: Promise<UpstreamPart | BehindEnd | null> | null = null;
  #position: number;
  /** Last byte wanted; null while the end of the object is not known. */
  #end: number | null;

  private constructor(
    { object, context, signal, budget }: TransferInput & { budget: RetryBudget },
    range: ByteRange,
    first: UpstreamPart | BehindEnd,
  ) {
    this.#object = object;
    this.#context = context;
    this.#signal = signal;
    this.#budget = budget;
    this.#position = range.start;
    this.#end = range.end;
    this.#first = first;
    this.#learnEnd();
  }

  /**
   * Starts a transfer: resolves when the first answer is there and was checked.
   * @param input.range null reads all and asks without a range where that is enough
   * @throws TransferFault when it cannot be recovered; `signal.reason`
   */
  static async open(input: TransferInput): Promise<Transfer> {
    const range = input.range ?? { start: 0, end: null };
    const budget = new RetryBudget(input.context.limits);
    const asked =
      input.range === null && input.object.chunkBytes === null
        ? null
        : chunkOf(input.object, range.start, range.end);
    const first = await attempt({ ...input, budget }, asked, range.end);
    return new Transfer({ ...input, budget }, range, first);
  }

  /** Whether there is nothing at this place: the range begins behind the end. */
  get isBehindEnd(): boolean {
    return this.#first.kind === 'behind-end';
  }

  /** Of the whole object, in bytes; null when the server does not tell. */
  get total(): number | null {
    return this.#object.identity.total;
  }

  /** Of the media server, undefined when it does not tell. */
  get contentType(): string | undefined {
    return this.#first.kind === 'bytes' ? this.#first.response.header('content-type') : undefined;
  }

  /** Whether the bytes are gzip; only where the context allows it. */
  get isCompressed(): boolean {
    return this.#first.kind === 'bytes' && contentEncoding(this.#first.response) === 'gzip';
  }

  /** URL after redirects. */
  get url(): string | undefined {
    return this.#first.kind === 'bytes' ? this.#first.response.url : undefined;
  }

  /** Gives up a transfer whose bytes nobody wants. */
  discard(): void {
    if (this.#first.kind === 'bytes') this.#first.response.body.destroy();
  }

  /**
   * The bytes, complete when the generator ends.
   * @throws TransferFault when a fault is not recovered; `signal.reason`
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
    while (part.kind === 'bytes') {
      let fault: TransferFault | null = null;
      try {
        yield* this.#readPart(part);
        if (this.#isComplete(part)) return;
        if (part.end === null || this.#position <= part.end) fault = endedEarly();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (this.#end !== null && this.#position > this.#end) return;
        fault = faultFrom(error);
      }
      const input = {
        object: this.#object,
        context: this.#context,
        signal: this.#signal,
        budget: this.#budget,
      };
      if (fault) {
        this.#discardAhead();
        await recover(input, fault);
      }
      part =
        (await this.#takeAhead()) ??
        (await attempt(input, chunkOf(this.#object, this.#position, this.#end), this.#end));
      this.#learnEnd();
      const endIsMissing = this.#end === null ? fault !== null : this.#position <= this.#end;
      if (part.kind === 'behind-end' && endIsMissing) throw brokenRules('lost the end of the file');
    }
  }

  /** Yields what this answer brings of the wanted bytes, cut at their end. */
  async *#readPart(part: UpstreamPart): AsyncGenerator<Buffer, void, void> {
    const { response, skip, end, hasSurplus } = part;
    const start = this.#position;
    const startedAt = performance.now();
    let toSkip = skip;
    for await (const received of response.body.chunks(this.#context.limits.idleTimeoutMs)) {
      this.#context.countReceived(received.length);
      const skipped = Math.min(toSkip, received.length);
      toSkip -= skipped;
      const left = end === null ? received.length : end + 1 - this.#position;
      const chunk =
        skipped === 0 && received.length <= left ? received : received.subarray(skipped, skipped + left);
      if (chunk.length > 0) {
        this.#position += chunk.length;
        this.#budget.received(chunk.length);
        if (end !== null) this.#askAhead(end, this.#position - start, performance.now() - startedAt);
        yield chunk;
      }
      if (end !== null && this.#position > end && (hasSurplus || received.length - skipped > left)) return;
    }
  }

  /**
   * Requests the next chunk when the present one is about to end.
   * @param end of the present one
   * @param got bytes of it in `elapsedMs`
   */
  #askAhead(end: number, got: number, elapsedMs: number): void {
    if (this.#object.chunkBytes === null || this.#ahead !== null || end >= (this.#end ?? 0)) return;
    const left = end + 1 - this.#position;
    const isMostlyRead = left <= aheadShare * (got + left);
    const isSoonRead = got >= aheadShare * (got + left) && (left / got) * elapsedMs <= aheadMs;
    if (!isMostlyRead && !isSoonRead) return;
    const range = chunkOf(this.#object, end + 1, this.#end);
    // A failure counts when the chunk's turn comes and it is requested again.
    this.#ahead = requestPart(this.#object, range, this.#end, this.#context, this.#signal).catch(() => null);
  }

  async #takeAhead(): Promise<UpstreamPart | BehindEnd | null> {
    const part = await this.#ahead;
    this.#ahead = null;
    this.#signal.throwIfAborted();
    return part;
  }

  #discardAhead(): void {
    void this.#ahead?.then((part) => {
      if (part?.kind === 'bytes') part.response.body.destroy();
    });
    this.#ahead = null;
  }

  #isComplete(part: UpstreamPart): boolean {
    if (part.isOpenEnded && this.#object.identity.total === null) return true;
    if (this.#end !== null) return this.#position > this.#end;
    // The server named no end: the clean end of the response is the end.
    return part.end === null;
  }

  #learnEnd(): void {
    const { total } = this.#object.identity;
    if (total !== null) this.#end = Math.min(this.#end ?? total - 1, total - 1);
  }
}

interface TransferInput {
  readonly object: RemoteObject;
  readonly range: ByteRange | null;
  readonly context: TransferContext;
  readonly signal: AbortSignal;
}

type AttemptInput = Omit<TransferInput, 'range'> & { readonly budget: RetryBudget };

/** Asks until an answer passes the checks or the budget is spent. */
async function attempt(
  input: AttemptInput,
  range: ByteRange | null,
  wantedEnd: number | null,
): Promise<UpstreamPart | BehindEnd> {
  for (;;) {
    try {
      return await requestPart(input.object, range, wantedEnd, input.context, input.signal);
    } catch (error) {
      input.signal.throwIfAborted();
      await recover(input, faultFrom(error));
    }
  }
}

/** Does what may help against a fault. @throws the fault when nothing does */
async function recover(
  { object, context, signal, budget }: AttemptInput,
  fault: TransferFault,
): Promise<void> {
  context.logger.debug(
    { code: fault.failure.code, remedy: fault.remedy, err: fault.failure.cause },
    'upstream fault',
  );
  await budget.spend(fault, signal);
  if (fault.remedy !== 'renew') return;
  try {
    if (await object.url.renew(signal)) return;
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

function endedEarly(): TransferFault {
  const detail =
    "The site's media server ended the file before its end and it could not be resumed. Try again.";
  return new TransferFault(new DomainError('upstream_error', detail), 'retry');
}
