import type { ServerResponse } from 'node:http';

/** What ffmpeg asks of a source. */
export interface ResourceRequest {
  /** Path below the source's token, without leading slash. */
  readonly path: string;
  /** As received. */
  readonly search: string;
  readonly method: 'GET' | 'HEAD';
  readonly range: string | undefined;
  readonly response: ServerResponse;
  /** Aborts when ffmpeg closes the connection or the session ends. */
  readonly signal: AbortSignal;
}

/** One source as ffmpeg sees it. */
export interface Resource {
  /** First path for ffmpeg to open. */
  readonly entryPath: string;
  /**
   * Answers one request.
   * @throws TransferFault when upstream failed beyond recovery; `signal.reason`
   */
  serve(request: ResourceRequest): Promise<void>;
  /** Whether all parts that belong to the medium have been delivered, as far as the source lists them. */
  isComplete(): boolean;
}

/** A path that the source does not have. */
export function notFound(response: ServerResponse): void {
  response.writeHead(404, { 'content-length': 0 }).end();
}
