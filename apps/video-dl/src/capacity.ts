import { minClientBytesPerMinute, type Machine } from '@media-services/http-common';
import type { Config } from './config.js';

/** How much work runs at once. */
export interface Capacity {
  readonly engines: number;
  readonly streams: number;
}

const engineBytes = 120 * 1024 ** 2;
const engineMemoryShare = 0.25;
/** Most streams only copy. One that transcodes takes a whole core. */
const streamsPerCore = 4;
/** ffmpeg and our buffers, measured at 30 to 60 MB. */
const streamBytes = 64 * 1024 ** 2;
const streamMemoryShare = 0.5;

/** Numbers are used as given; `auto` depends on the machine. */
export function capacityOf(
  { ENGINE_PROCESSES, STREAMS_MAX }: Pick<Config, 'ENGINE_PROCESSES' | 'STREAMS_MAX'>,
  { cores, memoryBytes }: Machine,
): Capacity {
  // One per core: an extraction mostly waits for the site.
  const engines = Math.min(cores, (memoryBytes * engineMemoryShare) / engineBytes);
  const streams = Math.min(cores * streamsPerCore, (memoryBytes * streamMemoryShare) / streamBytes);
  return {
    // At least two, so that slow pages of one client leave an engine for others.
    engines: ENGINE_PROCESSES === 'auto' ? Math.max(2, Math.floor(engines)) : ENGINE_PROCESSES,
    streams: STREAMS_MAX === 'auto' ? Math.max(4, Math.floor(streams)) : STREAMS_MAX,
  };
}

/** Streams that may wait for a slot. */
const streamQueue = 16;
/** Extractions that may wait for an engine: they finish sooner than streams. */
export const extractionQueue = 4 * streamQueue;
/** Some clients read only as fast as they play. The extra third allows for waiting. */
const totalTimePerVideoTime = 4 / 3;

export function streamLimits(config: Config, { streams }: Capacity) {
  return {
    maxConcurrent: streams,
    maxQueued: streamQueue,
    /** From the end of extraction to the first byte, including all waiting. */
    firstByteTimeoutMs: config.FIRST_BYTE_TIMEOUT_SECONDS * 1000,
    /** Without a byte from the media server or from ffmpeg. */
    upstreamIdleTimeoutMs: config.SOURCE_IDLE_TIMEOUT_SECONDS * 1000,
    /** Without a byte read by the client. */
    clientIdleTimeoutMs: 120_000,
    /** What a client must read per minute that the stream waits for it; 0 for no limit. */
    minClientBytesPerMinute,
    /** What a source must send per minute that the stream waits for it; 0 for no limit. */
    minSourceBytesPerMinute: config.SOURCE_MIN_BYTES_PER_MINUTE,
    totalTimeoutMs: config.VIDEO_MAX_SECONDS * totalTimePerVideoTime * 1000,
    maxOutputBytes: config.STREAM_MAX_BYTES,
  };
}

export type StreamLimits = Readonly<ReturnType<typeof streamLimits>>;
