import type { Guard, NetworkLogger } from '@media-services/egress-guard';
import type { ByteRange } from './byte-range.js';
import { fetchSmall, type SmallObject } from './fetch-small.js';
import type { MediaSource, RenewSource } from './media-source.js';
import type { ObjectIdentity, RemoteObject } from './remote-object.js';
import { fileObject, RenewableSource } from './renewable-source.js';
import { Transfer } from './transfer.js';
import { defaultLimits, type TransferContext, type UpstreamLimits } from './transfer-context.js';
import { faultFrom, TransferFault } from './transfer-fault.js';

interface UpstreamOptions {
  readonly guard: Guard;
  readonly logger: NetworkLogger;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}

export interface ReaderOptions {
  readonly signal: AbortSignal;
  /** The outbound proxy through which the source's page was read, which its URLs may be bound to. */
  readonly exit?: number | undefined;
  /** Who asks: name lookups are limited for each client. */
  readonly client: string;
}

/** Reads one object through the guard; its connections end with the signal that it was made with. */
export interface ObjectReader {
  readonly object: RemoteObject;
  /**
   * Starts to read; the first answer is there and was checked when this resolves.
   * @param range null for the whole object
   * @throws DomainError what went wrong beyond recovery; the signal's reason
   */
  open(range: ByteRange | null): Promise<Transfer>;
}

/** The media servers, for code that reads their bytes in process: files that are passed on, and heads. */
export class Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /**
   * The one object of a source in a single file.
   * @param renew absent where a rejected URL is final
   * @param identity of the version that has been seen before
   */
  object(source: MediaSource, renew?: RenewSource, identity?: ObjectIdentity): RemoteObject {
    return fileObject(new RenewableSource(source, renew), identity);
  }

  reader(object: RemoteObject, options: ReaderOptions): ObjectReader {
    const { signal } = options;
    const context = this.#context(options);
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
   * Reads something small, such as a thumbnail.
   * @throws DomainError, also when it is larger than `maxBytes`; `signal.reason`
   */
  async fetchBytes(
    url: string,
    { maxBytes, signal, client }: { maxBytes: number } & Pick<ReaderOptions, 'signal' | 'client'>,
  ): Promise<SmallObject> {
    const ended = new AbortController();
    const context = this.#context({ signal: ended.signal, client });
    const maxAttempts = Math.min(context.limits.maxAttempts, 2);
    try {
      return await fetchSmall(this.object({ url, headers: {}, kind: 'file' }), {
        ...{ range: null, maxBytes, signal },
        context: { ...context, limits: { ...context.limits, maxAttempts } },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw faultFrom(error).failure;
    } finally {
      ended.abort();
    }
  }

  #context({ signal, exit, client }: ReaderOptions): TransferContext {
    const { guard, logger, limits } = this.#options;
    return {
      dispatcher: guard.createDispatcher({ signal, exit, client }),
      limits: { ...defaultLimits, ...limits },
      logger,
      countReceived: () => undefined,
    };
  }
}

/** What a fault that was not recovered comes to; anything else as it is. */
export function failureOf(error: unknown): unknown {
  return error instanceof TransferFault ? error.failure : error;
}
