import type { Capacity } from '../capacity.js';
import type { Config } from '../config.js';

/** Bounds of streaming. */
export interface StreamLimits {
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** From the media URLs to the first byte, all waiting included. */
  readonly firstByteTimeoutMs: number;
  /** Without a byte from the media server, and none from ffmpeg. */
  readonly upstreamIdleTimeoutMs: number;
  /** Without a byte read by the client. */
  readonly clientIdleTimeoutMs: number;
  /** What a client must read in each minute in which the stream waits for it; 0 for no such limit. */
  readonly minClientBytesPerMinute: number;
  /** What a source must send in each minute in which the stream waits for it; 0 for no such limit. */
  readonly minSourceBytesPerMinute: number;
  readonly totalTimeoutMs: number;
  readonly maxOutputBytes: number;
}

export function streamLimits(config: Config, { streams }: Capacity): StreamLimits {
  return {
    maxConcurrent: streams,
    maxQueued: config.MAX_QUEUED_STREAMS,
    firstByteTimeoutMs: config.FIRST_BYTE_TIMEOUT_SECONDS * 1000,
    upstreamIdleTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
    clientIdleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_SECONDS * 1000,
    minClientBytesPerMinute: config.MIN_CLIENT_BYTES_PER_MINUTE,
    minSourceBytesPerMinute: config.MIN_SOURCE_BYTES_PER_MINUTE,
    totalTimeoutMs: config.MAX_STREAM_SECONDS * 1000,
    maxOutputBytes: config.MAX_OUTPUT_BYTES,
  };
}
