import type { Config } from '../config.js';

/** Bounds of streaming. */
export interface StreamLimits {
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** From the media addresses to the first byte, waiting for a place included. */
  readonly firstByteTimeoutMs: number;
  /** Without a byte from the media server, and none from ffmpeg. */
  readonly upstreamIdleTimeoutMs: number;
  /** Without a byte taken by the client. */
  readonly clientIdleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxOutputBytes: number;
}

export function streamLimits(config: Config): StreamLimits {
  return {
    maxConcurrent: config.MAX_CONCURRENT_STREAMS,
    maxQueued: config.MAX_QUEUED_STREAMS,
    firstByteTimeoutMs: config.FIRST_BYTE_TIMEOUT_SECONDS * 1000,
    upstreamIdleTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
    clientIdleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_SECONDS * 1000,
    totalTimeoutMs: config.MAX_STREAM_SECONDS * 1000,
    maxOutputBytes: config.MAX_OUTPUT_BYTES,
  };
}
