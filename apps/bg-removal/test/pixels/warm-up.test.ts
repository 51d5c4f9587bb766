import { setImmediate as nextTurn } from 'node:timers/promises';
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
