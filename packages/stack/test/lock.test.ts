import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { whileLocked } from '../src/set-up/lock.mjs';
import { scratch } from './support/scratch.js';

test('the second waits for the first and says so', async () => {
  const file = join(scratch(), 'lock');
  const order: string[] = [];
  const said: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const running = whileLocked(
    file,
    () => undefined,
    async () => {
      await held;
      order.push('first');
    },
  );

  const waiting = whileLocked(
    file,
    (text) => {
      said.push(text);
      release();
    },
    () => Promise.resolve(order.push('second')),
  );
  await Promise.all([running, waiting]);

  expect(order).toEqual(['first', 'second']);
  expect(said).toEqual([expect.stringContaining(`process ${process.pid}`)]);
  expect(existsSync(file)).toBe(false);
});

test('the lock of a command that was killed is taken over', async () => {
  const file = join(scratch(), 'lock');
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  writeFileSync(file, String(dead.pid));

  await expect(
    whileLocked(
      file,
      () => undefined,
      () => Promise.resolve('done'),
    ),
  ).resolves.toBe('done');
});

test('work that fails gives the lock back', async () => {
  const file = join(scratch(), 'lock');

  await expect(
    whileLocked(
      file,
      () => undefined,
      () => Promise.reject(new Error('no')),
    ),
  ).rejects.toThrow('no');

  expect(existsSync(file)).toBe(false);
});
