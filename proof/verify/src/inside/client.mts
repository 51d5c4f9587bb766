/** A client of the gateway at GATEWAY_URL, in a container: takes a Task as JSON and returns JSON. */
import { createWriteStream, readFileSync } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Download, DownloadTask, Poll, PollTask, RequestsTask, Task } from './tasks.mjs';

const gateway = process.env.GATEWAY_URL ?? 'http://gateway:8080';
/** Slower than the gateway's limit of ten health requests a second. */
const pollEveryMs = 125;

// Written by client.ts of this package.
const task = JSON.parse(process.argv[2] ?? '') as Task;
process.stdout.write(JSON.stringify(await perform(task)));

function perform(given: Task): Promise<readonly Answer[] | Download | Poll> {
  switch (given.task) {
    case 'requests':
      return requests(given);
    case 'download':
      return download(given);
    case 'poll':
      return poll(given);
  }
}

async function requests({
  path,
  count = 1,
  concurrency = count,
  picture,
  form,
  id,
  headers = {},
  notBefore = 0,
}: RequestsTask): Promise<readonly Answer[]> {
  const body = picture === undefined && form === undefined ? undefined : formWith(form, picture);
  const results: Answer[] = [];
  await delay(Math.max(0, notBefore - Date.now()));
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await one(path, body, { ...headers, 'X-Request-Id': `${id}-${index}` });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

async function one(
  path: string,
  body: FormData | undefined,
  headers: Record<string, string>,
): Promise<Answer> {
  const started = performance.now();
  const elapsedMs = () => Math.round(performance.now() - started);
  try {
    const response = await fetch(gateway + path, { headers, ...(body ? { method: 'POST', body } : {}) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const type = response.headers.get('content-type');
    return {
      status: response.status,
      ms: elapsedMs(),
      at: Date.now(),
      type,
      retryAfter: response.headers.get('retry-after'),
      bytes: bytes.length,
      start: bytes.subarray(0, 32).toString('hex'),
      ...(type?.includes('json') ? { json: JSON.parse(bytes.toString()) as unknown } : {}),
    };
  } catch (error) {
    return { status: 0, ms: elapsedMs(), at: Date.now(), error: reasonOf(error) };
  }
}

function formWith(fields: Record<string, string> = {}, picture?: string): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  if (picture !== undefined) {
    body.set('file', new Blob([readFileSync(picture)], { type: 'image/jpeg' }), 'picture.jpg');
  }
  return body;
}

async function download({ path, to, id, bytesPerSecond = 0 }: DownloadTask): Promise<Download> {
  const started = performance.now();
  let bytes = 0;
  let status = 0;
  const meter = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length;
      const waitMs = bytesPerSecond > 0 ? (chunk.length / bytesPerSecond) * 1000 : 0;
      setTimeout(() => done(null, chunk), waitMs);
    },
  });
  const answer = (rest: { complete: boolean; error?: string }) => ({
    status,
    bytes,
    seconds: (performance.now() - started) / 1000,
    ...rest,
  });
  try {
    const response = await fetch(gateway + path, { headers: { 'X-Request-Id': id } });
    status = response.status;
    if (response.body === null) throw new Error('there is no body');
    await pipeline(response.body, meter, createWriteStream(to));
    return answer({ complete: true });
  } catch (error) {
    return answer({ complete: false, error: reasonOf(error) });
  }
}

async function poll({ path, seconds }: PollTask): Promise<Poll> {
  const until = performance.now() + seconds * 1000;
  const running: Promise<Answer>[] = [];
  while (performance.now() < until) {
    running.push(one(path, undefined, {}));
    await delay(pollEveryMs);
  }
  const results = await Promise.all(running);
  return {
    total: results.length,
    slowestMs: Math.max(...results.map(({ ms }) => ms)),
    failures: results.filter(({ status }) => status !== 200),
  };
}

function reasonOf(error: unknown): string {
  return String(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
