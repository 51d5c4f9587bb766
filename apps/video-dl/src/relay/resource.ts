import type { ServerResponse } from 'node:http';
import type { Parse } from '../parsing/parser-pool.js';
import type { TransferContext } from '../upstream/transfer-context.js';

/** What everything in a session shares. */
export interface RelayContext extends TransferContext {
  /** Parses what arrives whole, in the name of the session's client. */
  readonly parse: Parse;
}

/** What ffmpeg asks of a source. */
export interface ResourceRequest {
  readonly method: 'GET' | 'HEAD';
  readonly range: string | undefined;
  readonly response: ServerResponse;
  /** Aborts when ffmpeg closes the connection or the session ends. */
  readonly signal: AbortSignal;
}

/** One source as ffmpeg sees it: a file. */
export interface Resource {
  /**
   * Answers one request.
   * @throws TransferFault when upstream failed beyond recovery; `signal.reason`
   */
  serve(request: ResourceRequest): Promise<void>;
  /** Whether all parts that belong to the medium have been delivered, as far as the source lists them. */
  isComplete(): boolean;
}
