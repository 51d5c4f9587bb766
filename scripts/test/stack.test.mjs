import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../lib/project.mjs';
import { Child } from '../lib/stack/child.mjs';
import { killMarked, markedProcesses, markerName } from '../lib/stack/leftovers.mjs';
import { endOrphans } from '../lib/stack/orphans.mjs';
import { panel } from '../lib/stack/panel.mjs';
import { checkGatewayPort, portFrom, preferredPort } from '../lib/stack/ports.mjs';

function scratch(context) {
  const folder = mkdtempSync(join(tmpdir(), 'stack-test-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function occupiedPort(context) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return server.address().port;
}

/** A program that prints the pid of a child of its own, ignores SIGTERM where told to, and waits. */
const program = (ignoring) => `
  ${ignoring ? "process.on('SIGTERM', () => {});" : ''}
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  console.log('child ' + child.pid);
  setInterval(() => {}, 1000);`;

function startProgram(context, { ignoring = false, env = process.env, argument = '' } = {}) {
  let announce;
  const announced = new Promise((resolve) => (announce = resolve));
  const child = new Child({
    name: 'program',
    file: process.execPath,
    args: ['-e', program(ignoring), argument],
    env,
    logFile: join(scratch(context), 'program.log'),
    onLine: (_name, line) => announce(Number(line.split(' ')[1])),
  });
  context.after(() => child.stop(0));
  return { child, announced };
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(pid) {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a port in use is reported at once, with PORT as the way out', async (context) => {
  const port = await occupiedPort(context);
  await assert.rejects(checkGatewayPort(port, '127.0.0.1'), (error) => {
    assert.match(error.message, new RegExp(`Port ${port} is in use`));
    assert.match(error.message, /PORT=\d+ npm start/);
    return true;
  });
});

test('npm start on a port in use ends before it sets anything up', async (context) => {
  const port = await occupiedPort(context);
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    env: { ...process.env, PORT: String(port), HOST: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(output, /PORT=8090 npm start/);
  assert.doesNotMatch(output, /pnpm|at file:/);
});

test('a value that is no port names the variable', () => {
  for (const value of ['x', '0', '65536', '80.5', '-1']) {
    assert.throws(() => portFrom({ PORT: value }, 'PORT', 8080), /^UserError: PORT is /);
  }
  assert.equal(portFrom({ PORT: '' }, 'PORT', 8080), 8080);
  assert.equal(portFrom({ PORT: '9000' }, 'PORT', 8080), 9000);
});

test('a usual port that is taken gives way to a free one', async (context) => {
  const taken = await occupiedPort(context);
  const port = await preferredPort(taken);
  assert.notEqual(port, taken);
  assert.equal(await preferredPort(port), port);
});

test('stopping ends the children of a program too', async (context) => {
  const { child, announced } = startProgram(context);
  const grandchild = await announced;
  await child.stop(5000);
  await gone(grandchild);
  assert.equal(isAlive(child.pid), false);
});

test('a program that ignores SIGTERM is killed when its grace is over', async (context) => {
  const { child, announced } = startProgram(context, { ignoring: true });
  const grandchild = await announced;
  await child.stop(50);
  assert.equal((await child.exited).signal, 'SIGKILL');
  await gone(grandchild);
});

test('a program that cannot be started is an exit with the reason', async (context) => {
  const child = new Child({
    name: 'none',
    file: '/does/not/exist',
    args: [],
    env: {},
    logFile: join(scratch(context), 'none.log'),
  });
  assert.match((await child.exited).reason, /ENOENT/);
  await child.stop(0);
});

test(
  'what a stack has left is found by its mark',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (context) => {
    const marker = `test-${process.pid}`;
    const { announced } = startProgram(context, { env: { ...process.env, [markerName]: marker } });
    const grandchild = await announced;
    assert.equal(markedProcesses(marker).length, 2);
    assert.equal(killMarked(marker), 2);
    await gone(grandchild);
  },
);

test(
  'what a killed run has left is ended by the next, what is running is left alone',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (context) => {
    const records = scratch(context);
    const orphan = startProgram(context, { argument: root });
    const stranger = startProgram(context);
    const owned = startProgram(context, { argument: root });
    const children = await Promise.all([orphan, stranger, owned].map(({ announced }) => announced));
    const deadOwner = spawn(process.execPath, ['-e', '']);
    await once(deadOwner, 'exit');
    const record = (port, owner, programs) =>
      writeFileSync(
        join(records, `stack-${port}.json`),
        JSON.stringify({ owner, marker: 'none', groups: programs.map(({ child }) => child.pid) }),
      );
    record(1, deadOwner.pid, [orphan, stranger]);
    record(2, process.pid, [owned]);

    assert.equal(endOrphans(records), 1);

    await orphan.child.exited;
    await gone(children[0]);
    assert.ok(isAlive(stranger.child.pid) && isAlive(children[1]));
    assert.ok(isAlive(owned.child.pid) && isAlive(children[2]));
    assert.equal(endOrphans(records), 0);
  },
);

test('the panel has a line to paste for every endpoint', () => {
  const text = panel({
    url: 'http://127.0.0.1:8080',
    logsDir: '/logs',
    metricsUrls: [],
    readyAfterSeconds: 9,
  });
  for (const path of [
    '/api/health',
    '/api/info',
    '/api/stream',
    '/api/stream/video',
    '/api/remove-background',
  ]) {
    assert.ok(text.includes(`http://127.0.0.1:8080${path}`), path);
  }
});
