import type { Metrics } from '@media-services/http-common';
import type { Target } from '../extract/index.js';
import type { StreamSlots } from './slots.js';

/** `ok`, or at which stage it ended and who ended it. */
export type StreamEnd = 'ok' | 'aborted' | 'failed' | 'truncated';

export interface StreamMetrics {
  addBytes(target: Target, bytes: number): void;
  countEnd(target: Target, end: StreamEnd): void;
}

/** Streaming's metrics for Prometheus. */
export function streamMetrics(metrics: Metrics, slots: StreamSlots): StreamMetrics {
  metrics.gauge({
    name: 'media_streams_in_flight',
    help: 'Streams that are being made.',
    collect: (gauge) => gauge.set(slots.running),
  });
  metrics.gauge({
    name: 'media_streams_queued',
    help: 'Stream requests that wait for a slot.',
    collect: (gauge) => gauge.set(slots.waiting),
  });
  const bytes = metrics.counter({
    name: 'media_stream_bytes_total',
    help: 'Bytes of media handed to clients.',
    labelNames: ['target'],
  });
  const ends = metrics.counter({
    name: 'media_streams_total',
    help: 'Streams by target and end: ok, aborted by the client, failed before the first byte, truncated after it.',
    labelNames: ['target', 'end'],
  });
  return {
    addBytes: (target, count) => bytes.inc({ target }, count),
    countEnd: (target, end) => ends.inc({ target, end }),
  };
}
