import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ByteBudget } from '../../src/api/byte-budget.js';
import { uploadReader } from '../../src/api/upload.js';

test('a parsed form leaves no listener on its signal', async () => {
  const read = uploadReader(1000);
  let signal: AbortSignal | undefined;
  const app = express().post('/', async (req, res) => {
    signal = AbortSignal.any([new AbortController().signal]);
    const { file } = await read(req, res, signal);
    res.json({ size: file?.bytes.length, listeners: getEventListeners(signal, 'abort').length });
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(500)]), 'picture.jpg');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form });
    expect(await response.json()).toEqual({ size: 500, listeners: 0 });
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

const never = new AbortController().signal;

/** A transfer that runs until the test ends it or the budget reclaims its bytes. */
function transfer(budget: ByteBudget, client: string, bytes: number) {
  let end = (): void => undefined;
  const outcome = budget
    .run(client, bytes, never, (signal) => {
      return new Promise<string>((resolve, reject) => {
        end = () => resolve('done');
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    })
    .catch((error: unknown) => (error as { code: string }).code);
  return { outcome, end: () => end() };
}

test('reclaims the oldest transfer of the client that holds the most bytes', async () => {
  const budget = new ByteBudget(100);
  const first = transfer(budget, 'greedy', 30);
  const second = transfer(budget, 'greedy', 30);
  const other = transfer(budget, 'other', 40);
  const newcomer = transfer(budget, 'newcomer', 20);
  expect(await first.outcome).toBe('overloaded');
  expect(budget.heldBytes).toBe(90);
  for (const { end } of [second, other, newcomer]) end();
  expect(await Promise.all([second.outcome, other.outcome, newcomer.outcome])).toEqual([
    'done',
    'done',
    'done',
  ]);
  expect(budget.heldBytes).toBe(0);
});

test('a transfer larger than the budget gets the whole budget', async () => {
  const budget = new ByteBudget(100);
  const small = transfer(budget, 'a', 10);
  const huge = transfer(budget, 'b', 500);
  expect(await small.outcome).toBe('overloaded');
  huge.end();
  expect(await huge.outcome).toBe('done');
});

test('a transfer releases its bytes when its client leaves', async () => {
  const budget = new ByteBudget(100);
  const gone = new AbortController();
  const lost = budget.run('a', 60, gone.signal, async (signal) => {
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  });
  gone.abort(new Error('gone'));
  await expect(lost).rejects.toThrow('gone');
  expect(budget.heldBytes).toBe(0);
});
