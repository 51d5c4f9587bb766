import type { Metrics } from '@media-services/http-common';
import type { EngineEvent } from './engine-options.js';
import type { EngineHealth } from './engine-supervisor.js';

/**
 * Prometheus metrics of one pool of processes.
 * @param prefix of the metrics' names; a service with several pools gives each its own
 * @returns the listener for `onEvent`; the gauges read `health` when they are scraped.
 */
export function engineMetrics(
  metrics: Metrics,
  health: () => EngineHealth<unknown> | undefined,
  prefix: 'media_engine' | 'media_parser' = 'media_engine',
): (event: EngineEvent) => void {
  metrics.gauge({
    name: `${prefix}_queue_length`,
    help: 'Jobs that wait for a process.',
    collect: (gauge) => gauge.set(health()?.queueLength ?? 0),
  });
  metrics.gauge({
    name: `${prefix}_ready`,
    help: 'Processes that are ready or busy.',
    collect: (gauge) => gauge.set(health()?.enginesReady ?? 0),
  });
  const restarts = metrics.counter({
    name: `${prefix}_restarts_total`,
    help: 'Process starts after the first one.',
  });
  const recycles = metrics.counter({ name: `${prefix}_recycles_total`, help: 'Planned restarts.' });
  const jobs = metrics.counter({
    name: `${prefix}_jobs_total`,
    help: 'Jobs by outcome.',
    labelNames: ['outcome'],
  });
  const wait = metrics.histogram({
    name: `${prefix}_queue_wait_seconds`,
    help: 'How long a job waited for a process.',
  });
  const run = metrics.histogram({
    name: `${prefix}_job_seconds`,
    help: 'How long a process worked on a job.',
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
