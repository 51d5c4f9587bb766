import type { Guard, NetworkLogger } from '@media-services/egress-guard';
import type { ByteRange } from './byte-range.js';
import { fetchSmall, type SmallObject } from './fetch-small.js';
import {
  defaultLimits,
  type MediaSource,
  type RenewSource,
  type TransferContext,
  type UpstreamLimits,
} from './media-source.js';
import type { ObjectIdentity, RemoteObject } from './remote-object.js';
import { fileObject, RenewableSource } from './renewable-source.js';
import { Transfer } from './transfer.js';
import { faultFrom, TransferFault } from './transfer-fault.js';

export interface UpstreamOptions {
  readonly guard: Guard;
  readonly logger: NetworkLogger;
  /** Those that differ from the defaults. */
  readonly limits?: Partial<UpstreamLimits> | undefined;
}

export interface ReaderOptions {
  readonly signal: AbortSignal;
  /** The outbound proxy used for the extraction. The source's URLs may be bound to its IP. */
  readonly exit?: number | undefined;
  /** The requesting client. Clients share the parsers fairly, and each has its own limit on DNS lookups. */
  readonly client: string;
}

/** Reads one object through the guard. The signal it was created with closes its connections. */
export interface ObjectReader {
  readonly object: RemoteObject;
  /**
   * Starts reading. Resolves once the first response has arrived and passed the checks.
   * @param range null for the whole object
   * @throws DomainError when reading fails; the signal's reason
   */
  open(range: ByteRange | null): Promise<Transfer>;
}

/** Reads media in this process: site files that we forward, file headers and thumbnails. */
export class Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /**
   * The object of a single-file source.
   * @param renew absent if a rejected URL is final
   * @param identity of the version seen before
   */
  object(source: MediaSource, renew?: RenewSource, identity?: ObjectIdentity): RemoteObject {
    return fileObject(new RenewableSource(source, renew), identity);
  }

  reader(object: RemoteObject, options: ReaderOptions): ObjectReader {
    const { signal } = options;
    const context = transferContext(this.#options, options);
    return {
      object,
      open: async (range) => {
        try {
          return await Transfer.open({ object, range, context, signal });
        } catch (error) {
          throw failureOf(error);
        }
      },
    };
  }

  /**
   * Reads something small, such as a thumbnail or subtitles.
   * @param target a URL, or a source with what its server expects in the request
   * @throws DomainError, including when it exceeds `maxBytes`; `signal.reason`
   */
  async fetchBytes(
    target: string | MediaSource,
    { maxBytes, signal, client }: { maxBytes: number } & Pick<ReaderOptions, 'signal' | 'client'>,
  ): Promise<SmallObject> {
    const ended = new AbortController();
    const source: MediaSource =
      typeof target === 'string' ? { url: target, headers: {}, kind: 'file' } : target;
    const options = { signal: ended.signal, exit: source.origin?.exit, client };
    const context = transferContext(this.#options, options);
    const maxAttempts = Math.min(context.limits.maxAttempts, 2);
    try {
      return await fetchSmall({
        object: this.object(source),
        range: null,
        maxBytes,
        signal,
        context: { ...context, limits: { ...context.limits, maxAttempts } },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw faultFrom(error).failure;
    } finally {
      ended.abort();
    }
  }
}

/** What all transfers of a reader share. */
export function transferContext(
  { guard, logger, limits }: UpstreamOptions,
  { signal, exit, client }: ReaderOptions,
): TransferContext {
  return {
    dispatcher: guard.createDispatcher({ signal, exit, client }),
    limits: { ...defaultLimits, ...limits },
    logger,
    countReceived: () => undefined,
  };
}

/** The domain error of a transfer fault; any other error unchanged. */
export function failureOf(error: unknown): unknown {
  return error instanceof TransferFault ? error.failure : error;
}
