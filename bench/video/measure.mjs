import { get } from 'node:http';
import { timeCommand } from './processes.mjs';

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Runs `work` so many times, one after the other; the median of what it returns. */
export async function medianOf(times, work) {
  const values = [];
  for (let index = 0; index < times; index += 1) values.push(await work(index));
  return median(values);
}

/** Milliseconds until a whole answer is there. */
export async function timeAnswer(url) {
  const start = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.status} from ${url}`);
  return performance.now() - start;
}

/** Milliseconds until the first byte of a stream; the rest is not read. */
export function timeFirstByte(url) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode} from ${url}`));
      response.once('data', () => {
        resolve(performance.now() - start);
        request.destroy();
      });
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}

/** Milliseconds until curl has all of a stream. */
export function timeDownload(url) {
  return timeCommand('curl', ['--silent', '--show-error', '--fail', '--output', '/dev/null', url]);
}

/** Reads a stream at so many bytes a second until stopped. */
export function slowClient(url, bytesPerSecond) {
  const client = { received: 0, ended: false, stop: () => request.destroy() };
  const request = get(url, { agent: false }, (response) => {
    const start = performance.now();
    response.on('data', (chunk) => {
      client.received += chunk.length;
      const dueMs = (client.received / bytesPerSecond) * 1000 - (performance.now() - start);
      if (dueMs <= 0) return;
      response.pause();
      setTimeout(() => response.resume(), dueMs);
    });
    response.on('error', () => undefined);
    response.on('close', () => (client.ended = true));
  });
  request.on('error', () => (client.ended = true));
  return client;
}
