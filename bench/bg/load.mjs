import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './statistics.mjs';

/** Milliseconds that health takes while `images` images are in work. */
export async function healthUnderLoad(service, bytes, images) {
  let running = true;
  const work = Promise.all(Array.from({ length: images }, () => service.request(bytes))).finally(
    () => (running = false),
  );
  const times = [];
  while (running) {
    const startedAt = performance.now();
    await (await fetch(`${service.url}/api/health`)).arrayBuffer();
    times.push(performance.now() - startedAt);
    await delay(20);
  }
  await work;
  return { samples: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/** How many of `count` uploads at once got which status, and how long the last one took. */
export async function uploadsAtOnce(service, bytes, count) {
  const startedAt = performance.now();
  const results = await Promise.all(Array.from({ length: count }, () => service.request(bytes)));
  const statuses = {};
  for (const { status } of results) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, seconds: (performance.now() - startedAt) / 1000 };
}
