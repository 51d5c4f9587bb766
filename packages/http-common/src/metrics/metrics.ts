import { readFile } from 'node:fs/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

interface MetricOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly Label[];
}

/** Stage and request durations in seconds, from a cached response to a long stream. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** The Prometheus registry of one service, with the metrics common to all services. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<'route' | 'method' | 'status_class' | 'code'>;
  readonly outcomes: Counter<'route' | 'outcome'>;
  readonly requestDuration: Histogram<'route'>;
  readonly stageDuration: Histogram<'stage'>;
  readonly requestsInFlight: Gauge;
  counter<Label extends string>(options: MetricOptions<Label>): Counter<Label>;
  gauge<Label extends string>(
    options: MetricOptions<Label> & { collect?: (gauge: Gauge<Label>) => void | Promise<void> },
  ): Gauge<Label>;
  histogram<Label extends string>(options: MetricOptions<Label>): Histogram<Label>;
}

/** Creates the metrics of one service. Every label must have a bounded set of values. */
export function createMetrics(options: { service: string; version?: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service: options.service });
  collectDefaultMetrics({ register: registry });
  // Gauges that are named like counters. `nodejs_active_resources` has the same by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);

  const counter: Metrics['counter'] = ({ name, help, labelNames = [] }) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
  const gauge: Metrics['gauge'] = ({ name, help, labelNames = [], collect }) =>
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      ...(collect && {
        collect() {
          return collect(this);
        },
      }),
    });
  const histogram: Metrics['histogram'] = ({ name, help, labelNames = [] }) =>
    new Histogram({
      name,
      help,
      labelNames: [...labelNames],
      buckets: durationBuckets,
      registers: [registry],
    });

  gauge({
    name: 'media_build_info',
    help: '1, labelled with the versions of the service and of Node.',
    labelNames: ['version', 'node'],
  }).set({ version: options.version ?? 'unknown', node: process.version }, 1);
  gauge({
    name: 'media_child_memory_bytes',
    help: 'Resident memory of the processes that the service started, by program.',
    labelNames: ['program'],
    collect: async (memory) => {
      const bytes = await childMemory();
      memory.reset();
      for (const [program, value] of bytes) memory.set({ program }, value);
    },
  });

  return { registry, counter, gauge, histogram, ...requestMetrics({ counter, gauge, histogram }) };
}

function requestMetrics({ counter, gauge, histogram }: Pick<Metrics, 'counter' | 'gauge' | 'histogram'>) {
  return {
    requests: counter({
      name: 'media_http_requests_total',
      help: 'Finished requests by route, method, status class and error code.',
      labelNames: ['route', 'method', 'status_class', 'code'],
    }),
    outcomes: counter({
      name: 'media_http_outcomes_total',
      help: 'Finished requests by outcome: ok, aborted by the client, failed, or truncated after the first byte.',
      labelNames: ['route', 'outcome'],
    }),
    requestDuration: histogram({
      name: 'media_http_request_duration_seconds',
      help: 'Time from the request to the end of its response.',
      labelNames: ['route'],
    }),
    stageDuration: histogram({
      name: 'media_stage_duration_seconds',
      help: 'Time spent in one stage of a request.',
      labelNames: ['stage'],
    }),
    requestsInFlight: gauge({
      name: 'media_http_requests_in_flight',
      help: 'Requests in progress.',
    }),
  };
}

/** Resident bytes of this process's descendants, by program. Linux only; empty elsewhere. */
export async function childMemory(): Promise<ReadonlyMap<string, number>> {
  const bytes = new Map<string, number>();
  const waiting = await childrenOf(process.pid);
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    waiting.push(...(await childrenOf(pid)));
    const [status, program] = [await textOf(`/proc/${pid}/status`), await textOf(`/proc/${pid}/comm`)];
    const kibibytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    const name = program.trim() || 'unknown';
    bytes.set(name, (bytes.get(name) ?? 0) + kibibytes * 1024);
  }
  return bytes;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await textOf(`/proc/${pid}/task/${pid}/children`);
  return text.split(' ').filter(Boolean).map(Number);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    // The process has ended in the meantime.
    return '';
  }
}
