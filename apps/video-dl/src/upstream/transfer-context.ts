import type { Dispatcher } from 'undici';
import type { NetworkLogger } from '@media-services/egress-guard';
import type { UpstreamLimits } from './limits.js';

/** What every transfer of a session shares. */
export interface TransferContext {
  readonly dispatcher: Dispatcher;
  readonly limits: UpstreamLimits;
  readonly logger: NetworkLogger;
  /**
   * Counts bytes from upstream.
   * @throws TransferFault when the session has received all that it may
   */
  countReceived(bytes: number): void;
}
