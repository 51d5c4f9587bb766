import type { Machine } from '@media-services/http-common';
import type { Config } from './config.js';

/** How much is in work at once. */
export interface Capacity {
  readonly engines: number;
  readonly streams: number;
}

/** Extracting a page is mostly waiting for its site. */
const enginesPerCore = 1;
const engineBytes = 120 * 1024 ** 2;
const engineMemoryShare = 0.25;
/** Streams mostly copy; one that is converted takes a core by itself. */
const streamsPerCore = 4;
/** ffmpeg and our buffers, measured at 30 to 60 MB. */
const streamBytes = 64 * 1024 ** 2;
const streamMemoryShare = 0.5;

/** Numbers are used as given; `auto` follows from the machine. */
export function capacityOf(
  { ENGINE_PROCESSES, STREAMS_MAX }: Pick<Config, 'ENGINE_PROCESSES' | 'STREAMS_MAX'>,
  { cores, memoryBytes }: Machine,
): Capacity {
  const engines = Math.min(cores * enginesPerCore, (memoryBytes * engineMemoryShare) / engineBytes);
  const streams = Math.min(cores * streamsPerCore, (memoryBytes * streamMemoryShare) / streamBytes);
  return {
    // Two: one client's slow pages leave an engine to the others.
    engines: ENGINE_PROCESSES === 'auto' ? Math.max(2, Math.floor(engines)) : ENGINE_PROCESSES,
    streams: STREAMS_MAX === 'auto' ? Math.max(4, Math.floor(streams)) : STREAMS_MAX,
  };
}
