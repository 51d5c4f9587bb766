import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './statistics.mjs';

/** @typedef {import('./service.mjs').Service} Service */

/**
 * Milliseconds that health takes while `images` images are in work.
 * @param {Service} service
 * @param {Uint8Array<ArrayBuffer>} file
 * @param {number} images
 */
export async function healthUnderLoad(service, file, images) {
  let running = true;
  const work = Promise.all(Array.from({ length: images }, () => service.request(file))).finally(
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

/**
 * How many of `count` uploads at once got which status, and how long the last one took.
 * @param {Service} service
 * @param {Uint8Array<ArrayBuffer>} file
 * @param {number} count
 */
export async function uploadsAtOnce(service, file, count) {
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, () => service.request(file)));
  /** @type {Record<number, number>} */
  const statuses = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, seconds: (performance.now() - startedAt) / 1000 };
}
