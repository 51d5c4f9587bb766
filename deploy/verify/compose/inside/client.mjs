/**
 * A client of the gateway: takes one task as JSON, answers with JSON.
 *   {"task":"requests","path":…,"count":…,"concurrency":…,"picture":"/tmp/…","id":…,"headers":{…}}
 *   {"task":"download","path":…,"to":"/tmp/…","id":…,"bytesPerSecond":…}
 *   {"task":"poll","path":…,"seconds":…,"everyMs":…}
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

const gateway = 'http://gateway:8080';
const task = JSON.parse(process.argv[2]);
const tasks = { requests, download, poll };
process.stdout.write(JSON.stringify(await tasks[task.task](task)));

async function requests({ path, count = 1, concurrency = count, picture, id = 'verify', headers = {} }) {
  const bytes = picture === undefined ? undefined : readFileSync(picture);
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await one(path, bytes, { ...headers, 'X-Request-Id': `${id}-${index}` });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

async function one(path, picture, headers) {
  const started = performance.now();
  try {
    const response = await fetch(gateway + path, { headers, ...(picture ? upload(picture) : {}) });
    const body = Buffer.from(await response.arrayBuffer());
    return {
      status: response.status,
      ms: Math.round(performance.now() - started),
      type: response.headers.get('content-type'),
      retryAfter: response.headers.get('retry-after'),
      bytes: body.length,
      start: body.subarray(0, 32).toString('hex'),
      json: /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(body.toString()) : undefined,
    };
  } catch (error) {
    return { status: 0, error: String(error.cause ?? error) };
  }
}

function upload(picture) {
  const body = new FormData();
  body.set('file', new Blob([picture], { type: 'image/jpeg' }), 'picture.jpg');
  return { method: 'POST', body };
}

/** Reads a stream into a file; `complete` is what the protocol says, not what the file looks like. */
async function download({ path, to, id = 'verify', bytesPerSecond = 0 }) {
  const started = performance.now();
  let bytes = 0;
  let status = 0;
  const meter = new Transform({
    async transform(chunk, _encoding, done) {
      bytes += chunk.length;
      if (bytesPerSecond > 0) await delay((chunk.length / bytesPerSecond) * 1000);
      done(null, chunk);
    },
  });
  const answer = (rest) => ({ status, bytes, seconds: (performance.now() - started) / 1000, ...rest });
  try {
    const response = await fetch(gateway + path, { headers: { 'X-Request-Id': id } });
    status = response.status;
    await pipeline(response.body, meter, createWriteStream(to));
    return answer({ complete: true });
  } catch (error) {
    return answer({ complete: false, error: String(error.cause ?? error) });
  }
}

async function poll({ path, seconds, everyMs = 50 }) {
  const until = performance.now() + seconds * 1000;
  const running = [];
  while (performance.now() < until) {
    running.push(one(path, undefined, {}));
    await delay(everyMs);
  }
  const results = await Promise.all(running);
  const slowest = Math.max(...results.map(({ ms = 0 }) => ms));
  return { total: results.length, slowest, failures: results.filter(({ status }) => status !== 200) };
}
