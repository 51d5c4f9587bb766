import type { Guard, NetworkLogger } from '@media-services/egress-guard';
import {
  defaultLimits,
  type MediaSource,
  type RenewSource,
  type TransferContext,
  type UpstreamLimits,
} from './media-source.js';
import type { ObjectIdentity } from './object-identity.js';
import { RemoteObject } from './remote-object.js';
import { RenewableSource } from './renewable-source.js';
import { Transfer } from './transfer.js';
import { TransferFault } from './transfer-fault.js';

export interface UpstreamOptions {
  readonly guard: Guard;
  readonly logger: NetworkLogger;
  /** Those that differ from the defaults. */
  readonly limits?: Partial<UpstreamLimits> | undefined;
}

export interface ReaderOptions {
  /** Closes the reader's connections. */
  readonly signal: AbortSignal;
  /** The requesting client. Clients share the parsers fairly, and each has its own limit on DNS lookups. */
  readonly client: string;
  /** Absent if a rejected URL can't be replaced. */
  readonly renew?: RenewSource | undefined;
}

/** Reads media in this process: site files that we forward, file headers and thumbnails. */
export class Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The file of a source. @param identity of the version seen before */
  object(source: MediaSource, options: ReaderOptions, identity?: ObjectIdentity): RemoteObject {
    const context = transferContext(this.#options, options, source.origin?.exit);
    return new RemoteObject(new RenewableSource(source, context, options.renew), { identity });
  }

  /**
   * Reads something small, such as a thumbnail or subtitles.
   * @param target a URL, or a source with what its server expects in the request
   * @returns the URL after redirects, too
   * @throws DomainError, including when it exceeds `maxBytes`; `signal.reason`
   */
  async fetchBytes(
    target: string | MediaSource,
    { maxBytes, signal, client }: { maxBytes: number } & Pick<ReaderOptions, 'signal' | 'client'>,
  ): Promise<{ bytes: Buffer; url: string }> {
    const ended = new AbortController();
    const source: MediaSource =
      typeof target === 'string' ? { url: target, headers: {}, kind: 'file' } : target;
    const context = transferContext(this.#options, { signal: ended.signal, client }, source.origin?.exit);
    const limits = { ...context.limits, maxAttempts: Math.min(context.limits.maxAttempts, 2) };
    const object = new RemoteObject(new RenewableSource(source, { ...context, limits }));
    try {
      const transfer = await Transfer.open(object, null, signal);
      return { bytes: await transfer.bytes(maxBytes), url: transfer.url ?? '' };
    } catch (error) {
      throw failureOf(error);
    } finally {
      ended.abort();
    }
  }
}

/**
 * What all transfers of a reader share.
 * @param exit the outbound proxy used for the extraction. The URLs of its sources may be bound to its IP.
 */
export function transferContext(
  { guard, logger, limits }: UpstreamOptions,
  { signal, client }: ReaderOptions,
  exit: number | undefined,
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
