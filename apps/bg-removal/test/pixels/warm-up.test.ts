import { setImmediate as nextTurn } from 'node:timers/promises';
import { WarmUp } from '../../dist/pixels/warm-up.js';

let rounds = 0;
const count = () => (rounds += 1);
beforeEach(() => (rounds = 0));

async function turns(number: number): Promise<void> {
  for (let turn = 0; turn < number; turn += 1) await nextTurn();
}

test('begins after the turn in which the process says that it is there', async () => {
  new WarmUp(count, 2).resume();
  expect(rounds).toBe(0);
  await turns(2);
  expect(rounds).toBe(2);
});

test('is one round a turn, so that a task need not wait for all of it', async () => {
  const warmUp = new WarmUp(count, 100);
  warmUp.resume();
  await turns(3);
  expect(rounds).toBeLessThanOrEqual(3);
  warmUp.pause();
});

test('rests while a task is there, goes on after it, and ends', async () => {
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

test('goes at one pace however often it is resumed', async () => {
  const warmUp = new WarmUp(count, 100);
  for (let task = 0; task < 5; task += 1) warmUp.resume();
  await turns(2);
  expect(rounds).toBeLessThanOrEqual(2);
  warmUp.pause();
});
