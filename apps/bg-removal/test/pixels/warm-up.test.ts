import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@media-services/http-common';
import { imageLimits } from '../../src/images/image-limits.js';
import { defaultOutput } from '../../src/images/output.js';
import { defaultTuning } from '../../src/matte/tuning.js';
import { PixelPool } from '../../src/pixels/pixel-pool.js';
import { picture } from '../support/pictures.js';
import { WarmUp } from '../../src/pixels/warm-up.js';

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

test('stops after a while, until it may again', async () => {
  const warmUp = new WarmUp(count, 1e9);
  warmUp.resume();
  let before = -1;
  while (rounds > before) {
    before = rounds;
    await turns(10);
  }
  warmUp.resume();
  await turns(10);
  expect(rounds).toBeGreaterThan(before);
  warmUp.pause();
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
  const settings = { maxMemoryBytes: 2 * 1024 ** 3, keptMemoryBytes: 0, warmUpRounds: 1000 };
  const child = fork(script, [JSON.stringify(settings)], { serialization: 'advanced' });
  await once(child, 'message');
  const start = userTicks(child.pid);
  // It uses processor time without a task.
  while (userTicks(child.pid) < start + 30) {
    child.send({ type: 'prepare' });
    await delay(20);
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
});

onLinux('no process warms up while one has a task, and they go on after it', async () => {
  await using pool = new PixelPool({
    processes: 2,
    maxQueue: 1,
    taskTimeoutMs: 60_000,
    processBytes: 400 * 1024 ** 2,
    budgetBytes: 1600 * 1024 ** 2,
    warmUpRounds: 1e6,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  await pool.start();
  expect(pool.pids()).toHaveLength(1);
  pool.warmUp();
  while (pool.pids().length < 2) await delay(20);
  const ticksOfAll = (): number => pool.pids().reduce((sum, pid) => sum + userTicks(pid), 0);
  const untilBusy = async (): Promise<void> => {
    const before = ticksOfAll();
    while (ticksOfAll() < before + 30) await delay(20);
  };
  await untilBusy();
  const task = {
    file: await picture().png().toBuffer(),
    limits: imageLimits(1e6),
    inputSize: { width: 64, height: 64 },
    tuning: defaultTuning,
    output: defaultOutput,
  };
  // The task gets its mask only when neither process uses processor time.
  const maskWhenQuiet = async () => {
    for (let before = -2; ticksOfAll() > before + 1;) {
      before = ticksOfAll();
      await delay(500);
    }
    return { mask: new Float32Array(64 * 64), width: 64, height: 64 };
  };
  const result = await pool.run(task, maskWhenQuiet, AbortSignal.timeout(30_000));
  expect(result.kind).toBe('rejected');
  await untilBusy();
});

function userTicks(pid = 0): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11]);
}
