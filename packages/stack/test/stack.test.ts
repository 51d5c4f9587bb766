import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  checkGatewayPort,
  endOrphans,
  gatewayAddress,
  killMarked,
  markedProcesses,
  markerName,
  newStack,
  root,
} from '../src/set-up/index.mjs';
import { deathMessage, onFreePort, panel, PortInUseError } from '../src/index.js';
import { Child } from '../src/runner/child.js';
import { StackProcesses } from '../src/runner/stack-processes.js';
import { Stack } from '../src/runner/stack.js';
import { scratch } from './support/scratch.js';

const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

async function occupiedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  releases.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A program that starts a child, prints its pid and waits. Ignores SIGTERM if `ignoring`. */
const program = (ignoring: boolean) => `
  ${ignoring ? "process.on('SIGTERM', () => {});" : ''}
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  console.log('child ' + child.pid);
  setInterval(() => {}, 1000);`;

function startProgram({ ignoring = false, env = process.env, argument = '' } = {}): {
  child: Child;
  pid: number;
  announced: Promise<number>;
} {
  let announce = (_pid: number): void => undefined;
  const announced = new Promise<number>((resolve) => (announce = resolve));
  const child = new Child({
    name: 'program',
    file: process.execPath,
    args: ['-e', program(ignoring), argument],
    env,
    logFile: join(scratch(), 'program.log'),
    onLine: (_name, line) => announce(Number(line.split(' ')[1])),
  });
  releases.push(() => child.stop(0));
  return { child, pid: child.pid ?? 0, announced };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(10);
}

test('stops waiting for the services as soon as it is asked to stop', async () => {
  const processes = new StackProcesses({ logsDir: scratch() });
  releases.push(() => processes.stop());
  // It accepts connections and never responds.
  const url = `http://127.0.0.1:${await occupiedPort()}`;
  const stack = new Stack({ processes, services: [], url });
  const stopping = new AbortController();

  const waiting = stack.healthy({ signal: stopping.signal });
  stopping.abort();

  await expect(waiting).rejects.toThrow('aborted');
}, 4500);

const linuxTest = process.platform === 'linux' ? test : test.skip;

test('a port in use is reported at once, with PORT as the fix', async () => {
  const port = await occupiedPort();

  const checking = checkGatewayPort({ port, host: '127.0.0.1' });

  await expect(checking).rejects.toThrow(new RegExp(`Port ${port} is in use`));
  await expect(checking).rejects.toThrow(/PORT=\d+ npm start/);
});

test('npm start on a port in use fails before it sets anything up', async () => {
  const port = await occupiedPort();
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }

  const [code] = (await once(child, 'close')) as [number];

  expect(code).toBe(1);
  expect(output).toMatch(/PORT=8090 npm start/);
  expect(output).not.toMatch(/pnpm|at file:/);
});

test('an invalid port is reported with its variable', () => {
  for (const value of ['x', '0', '65536', '80.5', '-1']) {
    expect(() => gatewayAddress({ PORT: value })).toThrow(/^PORT is /);
  }
  expect(gatewayAddress({ PORT: ' ' })).toEqual({ port: 8080, host: '127.0.0.1' });
  expect(gatewayAddress({ PORT: ' 9000 ', HOST: '::1' })).toEqual({ port: 9000, host: '::1' });
});

test('tries another port if a program takes the free one before we listen on it', async () => {
  const tried: number[] = [];

  const used = await onFreePort(async (port) => {
    tried.push(port);
    await Promise.resolve();
    if (tried.length < 3) throw new PortInUseError();
    return port;
  });

  expect(tried).toHaveLength(3);
  expect(used).toBe(tried[2]);
});

test('does not try again if a program fails for another reason', async () => {
  let tries = 0;
  const failing = onFreePort(() => {
    tries += 1;
    return Promise.reject(new Error('no memory'));
  });

  await expect(failing).rejects.toThrow('no memory');
  expect(tries).toBe(1);
});

test('stopping a program also ends its children', async () => {
  const { child, pid, announced } = startProgram();
  const grandchild = await announced;

  await child.stop(5000);

  await gone(grandchild);
  expect(isAlive(pid)).toBe(false);
});

test('a program that ignores SIGTERM is killed after the grace period', async () => {
  const { child, announced } = startProgram({ ignoring: true });
  const grandchild = await announced;

  await child.stop(50);

  expect((await child.exited).signal).toBe('SIGKILL');
  await gone(grandchild);
});

test('a program that cannot be started exits with the reason', async () => {
  const child = new Child({
    name: 'none',
    file: '/does/not/exist',
    args: [],
    env: {},
    logFile: join(scratch(), 'none.log'),
  });

  expect((await child.exited).reason).toMatch(/ENOENT/);
  await child.stop(0);
});

test('a program whose log file was deleted still has a message', async () => {
  const { child } = startProgram();
  rmSync(child.logFile);

  expect(deathMessage({ child, reason: 'signal SIGKILL' })).toContain('has been deleted');
  await child.stop(0);
});

test('keeps the log of the previous run', async () => {
  const logFile = join(scratch(), 'program.log');
  const run = async (text: string) => {
    const { exited } = new Child({
      name: 'program',
      file: process.execPath,
      args: ['-p', `'${text}'`],
      env: process.env,
      logFile,
    });
    await exited;
  };

  await run('first');
  await run('second');

  expect(readFileSync(logFile, 'utf8')).toBe('second\n');
  expect(readFileSync(logFile.replace('.log', '.previous.log'), 'utf8')).toBe('first\n');
});

linuxTest('finds the leftovers of a stack by their marker', async () => {
  const marker = `test-${process.pid}`;
  const { announced } = startProgram({ env: { ...process.env, [markerName]: marker } });
  const grandchild = await announced;

  expect(markedProcesses(marker)).toHaveLength(2);
  expect(killMarked(marker)).toBe(2);
  await gone(grandchild);
});

linuxTest(
  'finds a program that removes the marker from its environment, as nginx does, and its children',
  async () => {
    const marker = `test-${process.pid}-nginx`;
    const { announced } = startProgram({ argument: `/run/${marker}` });
    const grandchild = await announced;

    expect(killMarked(marker)).toBe(1);
    await gone(grandchild);
  },
);

linuxTest('the next run ends the leftovers of a killed run and leaves running stacks alone', async () => {
  const stacks = scratch();
  const killed = spawn(process.execPath, ['-e', '']);
  await once(killed, 'exit');
  const running = newStack(stacks).marker;
  // The ids of processes are reused: the second one's owner started at another time.
  const orphans = [`${killed.pid}-1-a`, `${process.pid}-1-b`];
  for (const marker of orphans) mkdirSync(join(stacks, marker));
  const programs = [...orphans, running].map((marker) =>
    startProgram({ env: { ...process.env, [markerName]: marker } }),
  );
  const children = await Promise.all(programs.map(({ announced }) => announced));

  expect(endOrphans(stacks)).toBe(2);

  for (const { child } of programs.slice(0, 2))
    expect(await child.exited).toMatchObject({ signal: 'SIGKILL' });
  for (const pid of children.slice(0, 2)) await gone(pid);
  expect([programs[2]?.pid ?? 0, children[2] ?? 0].map(isAlive)).toEqual([true, true]);
  expect(endOrphans(stacks)).toBe(0);
  expect(readdirSync(stacks)).toEqual([running]);
});

test('the panel has a command for every endpoint of the services that run', () => {
  const panelOf = (metricsUrls: Record<string, string>) =>
    panel({ url: 'http://127.0.0.1:8080', logsDir: '/logs', metricsUrls, readyAfterSeconds: 9 });
  const text = panelOf({ 'video-dl': 'http://a/metrics', 'bg-removal': 'http://b/metrics' });

  for (const path of [
    '/api/health',
    '/api/info',
    '/api/stream',
    '/api/stream/video',
    '/api/remove-background',
  ]) {
    expect(text).toContain(`http://127.0.0.1:8080${path}`);
  }
  expect(panelOf({ 'bg-removal': 'http://b/metrics' })).not.toContain('/api/info');
});
