import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WarmUp } from '../../dist/pixels/warm-up.js';

let rounds = 0;
const count = () => void (rounds += 1);
beforeEach(() => (rounds = 0));

async function turns(number: number): Promise<void> {
  for (let turn = 0; turn < number; turn += 1) await nextTurn();
}

test('starts in the turn after the process sends ready', async () => {
  new WarmUp(count, 2).resume();
  expect(rounds).toBe(0);
  await turns(2);
  expect(rounds).toBe(2);
});

test('runs one round per turn, so that a task does not wait for all rounds', async () => {
  const warmUp = new WarmUp(count, 100);
  warmUp.resume();
  await turns(3);
  expect(rounds).toBeLessThanOrEqual(3);
  warmUp.pause();
});

test('pauses during a task, continues after it, and ends', async () => {
  const warmUp = new WarmUp(count, 5);
  warmUp.resume();
  await turns(2);
  warmUp.pause();
  const before = rounds;
  await turns(5);
  expect(rounds).toBe(before);
  warmUp.resume();
  await turns(10);
  expect(rounds).toBe(5);
});

test('keeps the same pace however often it is resumed', async () => {
  const warmUp = new WarmUp(count, 100);
  for (let task = 0; task < 5; task += 1) warmUp.resume();
  await turns(2);
  expect(rounds).toBeLessThanOrEqual(2);
  warmUp.pause();
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('a pixel process warms up once it may', async () => {
  const script = fileURLToPath(new URL('../../dist/pixels/pixel-process.js', import.meta.url));
  const settings = { maxMemoryBytes: 2 * 1024 ** 3, warmUpRounds: 1000 };
  const child = fork(script, [JSON.stringify(settings)], { serialization: 'advanced' });
  await once(child, 'message');
  child.send({ type: 'prepare' });
  const start = userTicks(child.pid);
  // It uses processor time without a task.
  while (userTicks(child.pid) < start + 100) await delay(20);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

function userTicks(pid = 0): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11]);
}
