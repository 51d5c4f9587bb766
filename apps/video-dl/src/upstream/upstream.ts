import type { Guard, NetworkLogger } from '@media-services/egress-guard';
import type { ByteRange } from './byte-range.js';
import { defaultLimits, type RelayLimits } from './limits.js';
import type { MediaSource, RenewSource } from './media-source.js';
import { RemoteObject } from './remote-object.js';
import { RenewableSource } from './renewable-source.js';
import { Transfer } from './transfer.js';
import { TransferFault } from './transfer-fault.js';

interface UpstreamOptions {
  readonly guard: Guard;
  readonly logger: NetworkLogger;
  readonly limits?: Partial<RelayLimits> | undefined;
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

/** The media servers, for what reads their bytes in process: files that are passed on, heads that are looked at. */
export class Upstream {
  readonly #options: UpstreamOptions;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The one object of a source in a single file. @param renew absent where a URL that is refused is the end of it */
  object(source: MediaSource, renew?: RenewSource): RemoteObject {
    const renewable = new RenewableSource(source, renew);
    return new RemoteObject(
      renewable.renewableUrl(({ url }) => url),
      source.chunkBytes ?? null,
    );
  }

  /** @param exit the way out that the source's page was read through, which its URLs may be bound to */
  reader(
    object: RemoteObject,
    { signal, exit }: { signal: AbortSignal; exit?: number | undefined },
  ): ObjectReader {
    const { guard, logger, limits } = this.#options;
    const context = {
      dispatcher: guard.createDispatcher({ signal, exit }),
      limits: { ...defaultLimits, ...limits },
      logger,
      countReceived: () => undefined,
    };
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
}

/** What a fault that was not recovered comes to; anything else as it is. */
export function failureOf(error: unknown): unknown {
  return error instanceof TransferFault ? error.failure : error;
}
