import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './service.js';
import { percentile } from '../statistics.js';

/** Milliseconds that health takes while `images` images are being processed. */
export async function healthUnderLoad(
  service: Service,
  file: Uint8Array<ArrayBuffer>,
  images: number,
): Promise<{ samples: number; p50: number; p99: number }> {
  const state = { running: true };
  const work = Promise.all(Array.from({ length: images }, () => service.request(file))).finally(
    () => (state.running = false),
  );
  const times: number[] = [];
  while (state.running) {
    const startedAt = performance.now();
    await (await fetch(`${service.url}/api/health`)).arrayBuffer();
    times.push(performance.now() - startedAt);
    await delay(20);
  }
  await work;
  return { samples: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/** The number of responses per status for `count` simultaneous uploads, and the time of the last one. */
export async function uploadsAtOnce(
  service: Service,
  file: Uint8Array<ArrayBuffer>,
  count: number,
): Promise<{ statuses: Record<number, number>; seconds: number }> {
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, () => service.request(file)));
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, seconds: (performance.now() - startedAt) / 1000 };
}
