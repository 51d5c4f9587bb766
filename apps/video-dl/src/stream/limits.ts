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

/** Some clients read as fast as they play; the rest is for waiting. */
const totalTimePerVideoTime = 4 / 3;

export function streamLimits(config: Config, { streams }: Capacity): StreamLimits {
  return {
    maxConcurrent: streams,
    maxQueued: config.STREAM_QUEUE_MAX,
    firstByteTimeoutMs: config.FIRST_BYTE_TIMEOUT_SECONDS * 1000,
    upstreamIdleTimeoutMs: config.SOURCE_IDLE_TIMEOUT_SECONDS * 1000,
    clientIdleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_SECONDS * 1000,
    minClientBytesPerMinute: config.CLIENT_MIN_BYTES_PER_MINUTE,
    minSourceBytesPerMinute: config.SOURCE_MIN_BYTES_PER_MINUTE,
    totalTimeoutMs: config.VIDEO_MAX_SECONDS * totalTimePerVideoTime * 1000,
    maxOutputBytes: config.STREAM_MAX_BYTES,
  };
}
