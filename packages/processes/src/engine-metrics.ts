import type { Metrics } from '@media-services/http-common';
import type { EngineEvent } from './engine-options.js';
import type { EngineHealth } from './engine-supervisor.js';

/**
 * Prometheus metrics of one engine pool.
 * @returns the listener for `onEvent`; the gauges read `health` when they are scraped.
 */
export function engineMetrics(
  metrics: Metrics,
  health: () => EngineHealth<unknown> | undefined,
): (event: EngineEvent) => void {
  metrics.gauge({
    name: 'media_engine_queue_length',
    help: 'Jobs that wait for an engine.',
    collect: (gauge) => gauge.set(health()?.queueLength ?? 0),
  });
  metrics.gauge({
    name: 'media_engine_ready',
    help: 'Engine processes that are ready or at work.',
    collect: (gauge) => gauge.set(health()?.enginesReady ?? 0),
  });
  const restarts = metrics.counter({
    name: 'media_engine_restarts_total',
    help: 'Starts after the first one.',
  });
  const recycles = metrics.counter({ name: 'media_engine_recycles_total', help: 'Planned restarts.' });
  const jobs = metrics.counter({
    name: 'media_engine_jobs_total',
    help: 'Jobs by outcome.',
    labelNames: ['outcome'],
  });
  const wait = metrics.histogram({
    name: 'media_engine_queue_wait_seconds',
    help: 'How long a job waited for an engine.',
  });
  const run = metrics.histogram({
    name: 'media_engine_job_seconds',
    help: 'How long an engine worked on a job.',
  });

  return (event) => {
    if (event.type === 'restart') restarts.inc();
    if (event.type === 'recycle') recycles.inc();
    if (event.type === 'job') {
      jobs.inc({ outcome: event.outcome });
      wait.observe(event.waitMs / 1000);
      run.observe(event.runMs / 1000);
    }
  };
}
