import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { root, staticFfmpeg, UserError } from '../src/set-up/index.mjs';
import { launchService } from '../src/runner/launch.js';
import { StackProcesses } from '../src/runner/stack-processes.js';
import { scratch } from './support/scratch.js';

/** A service that listens as `runMain` does, and reports it. It ends with code 78 if a port is taken. */
const listening = `
  const { createServer } = await import('node:http');
  const listen = async (port) => {
    const server = createServer().on('error', () => process.exit(78));
    await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
    return 'http://127.0.0.1:' + server.address().port;
  };
  const metricsUrl = await listen(Number(process.env.METRICS_PORT));
  process.send({ url: await listen(Number(process.env.PORT)), metricsUrl });`;

/** Waits until another program listens on the metrics port before it tries itself. */
const overtaken = `
  const { connect } = await import('node:net');
  const isTaken = () => new Promise((resolve) => {
    const socket = connect(Number(process.env.METRICS_PORT), '127.0.0.1', () => { socket.destroy(); resolve(true); });
    socket.on('error', () => resolve(false));
  });
  if (process.env.METRICS_PORT !== '0') {
    console.log('started');
    while (!(await isTaken())) await new Promise(setImmediate);
  }
  ${listening}`;

function program(text: string): string {
  const file = join(scratch(), 'main.mjs');
  writeFileSync(file, text);
  return file;
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer((socket) => void socket.resume()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

const servers: Server[] = [];
let processes: StackProcesses;
afterEach(async () => {
  await processes.stop();
  for (const server of servers.splice(0)) server.close();
});

const launch = (main: string, metricsPort: number, env = process.env) =>
  launchService(processes, { name: 'service', main, metricsPort, env });

test.each([
  ['the static ffmpeg of set-up', undefined, staticFfmpeg(root)],
  ['the ffmpeg of FFMPEG_PATH', '/usr/bin/ffmpeg', '/usr/bin/ffmpeg'],
])('a service uses %s', async (_, FFMPEG_PATH, expected) => {
  processes = new StackProcesses({ logsDir: scratch() });
  const main = program(`process.send({ url: String(process.env.FFMPEG_PATH), metricsUrl: '' })`);
  const { url } = await launch(main, 0, { ...process.env, FFMPEG_PATH });
  expect(url).toBe(String(expected));
});

test('a service reports where it listens', async () => {
  processes = new StackProcesses({ logsDir: scratch() });

  const { url, metricsUrl } = await launch(program(listening), 0);

  for (const each of [url, metricsUrl]) expect(new URL(each).port).toMatch(/^\d+$/);
});

test("a service's metrics get another port if their usual one is taken", async () => {
  processes = new StackProcesses({ logsDir: scratch() });
  const taken = await listenOn(0);
  servers.push(taken);

  const { metricsUrl } = await launch(program(listening), portOf(taken));

  expect(new URL(metricsUrl).port).not.toBe(String(portOf(taken)));
});

test('a service starts again if a program takes its metrics port just before it listens', async () => {
  const free = await listenOn(0);
  const port = portOf(free);
  free.close();
  processes = new StackProcesses({
    logsDir: scratch(),
    onLine: (_name, line) => {
      if (line === 'started') void listenOn(port).then((server) => servers.push(server));
    },
  });

  const { metricsUrl } = await launch(program(overtaken), port);

  expect(new URL(metricsUrl).port).not.toBe(String(port));
  expect(processes.all).toHaveLength(1);
});

test('a service that ends before it listens is reported with its last lines', async () => {
  processes = new StackProcesses({ logsDir: scratch() });

  const launching = launch(program("console.log('IMAGE_MAX_BYTES must be a size'); process.exit(78);"), 0);

  await expect(launching).rejects.toThrow(UserError);
  await expect(launching).rejects.toThrow(/exit code 78[^]*IMAGE_MAX_BYTES must be a size/);
});

test('a start that is aborted stops waiting', async () => {
  processes = new StackProcesses({ logsDir: scratch() });
  const main = program('setInterval(() => {}, 1000);');

  const launching = launchService(processes, {
    name: 'service',
    main,
    metricsPort: 0,
    env: process.env,
    signal: AbortSignal.timeout(10),
  });

  await expect(launching).rejects.toThrow('aborted');
});
