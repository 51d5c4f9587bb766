import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { ChildGroup, childEnvironment } from '../src/index.js';

const shortage = fileURLToPath(new URL('fixtures/descriptor-shortage.mjs', import.meta.url));
const never = () => new AbortController().signal;

function node(script: string, signal = never()): Promise<ChildGroup> {
  const args = ['-e', script];
  return ChildGroup.start({
    file: process.execPath,
    args,
    signal,
    env: childEnvironment(),
    stdin: 'ignore',
    killGraceMs: 100,
  });
}

function firstChunk(child: ChildGroup): Promise<Buffer> {
  return new Promise((resolve) => child.stdout.once('data', resolve));
}

/** A zombie counts as dead: it only waits for its new parent to reap it. */
function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z');
  } catch {
    return false;
  }
}

describe('a child group', () => {
  it('reads from its stdin and from a second input', async () => {
    await using child = await ChildGroup.start({
      file: '/bin/sh',
      args: ['-c', 'cat; cat <&3'],
      env: childEnvironment(),
      stdin: 'pipe',
      hasSecondInput: true,
      killGraceMs: 100,
    });
    const output = child.stdout.toArray();
    for (const [index, input] of child.inputs.entries()) input.end(`input ${index}\n`);
    expect(Buffer.concat(await output).toString()).toBe('input 0\ninput 1\n');
  });

  it('provides stdout and the exit code', async () => {
    await using child = await node('process.stdout.write("out"); process.exitCode = 3');
    expect((await firstChunk(child)).toString()).toBe('out');
    await expect(child.exited).resolves.toEqual({ code: 3, signal: null });
  });

  it('reports a program that does not exist', async () => {
    const options = { args: [], env: {}, stdin: 'ignore', killGraceMs: 100 } as const;
    await expect(ChildGroup.start({ file: '/nonexistent/program', ...options })).rejects.toMatchObject({
      name: 'SpawnError',
      code: 'ENOENT',
      isShortage: false,
    });
  });

  it('reports that no descriptor is left and keeps the parent alive', async () => {
    const { stdout } = await execa('sh', [
      '-c',
      'ulimit -n 150 && exec "$0" "$1"',
      process.execPath,
      shortage,
    ]);
    expect(stdout).toBe('EMFILE then started');
  });

  it('kills a child that ignores TERM, and its children, on abort', async () => {
    const abort = new AbortController();
    const script = `
      process.on('SIGTERM', () => {});
      const grandchild = require('node:child_process').spawn(process.execPath,
        ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("up")'], { stdio: ['ignore', 'pipe', 'ignore'] });
      grandchild.stdout.once('data', () => process.stdout.write(String(grandchild.pid)));
      setInterval(() => {}, 1000);`;
    await using child = await node(script, abort.signal);
    const grandchild = Number((await firstChunk(child)).toString());
    expect(isAlive(grandchild)).toBe(true);
    abort.abort();
    const exit = await child.exited;
    expect(exit.signal).toBe('SIGKILL');
    while (isAlive(grandchild)) await new Promise((resolve) => setImmediate(resolve));
  });

  it('kills processes left behind by a child that succeeded', async () => {
    const script = `
      const grandchild = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      grandchild.unref();
      process.stdout.write(String(grandchild.pid));`;
    await using child = await node(script);
    const grandchild = Number((await firstChunk(child)).toString());
    await expect(child.exited).resolves.toEqual({ code: 0, signal: null });
    while (isAlive(grandchild)) await new Promise((resolve) => setImmediate(resolve));
  });

  it('ends a child that is blocked writing to a reader that stopped', async () => {
    const abort = new AbortController();
    await using child = await node(
      'const fs = require("node:fs"); for (;;) fs.writeSync(1, Buffer.alloc(65536))',
      abort.signal,
    );
    await firstChunk(child);
    child.stdout.pause();
    abort.abort();
    const exit = await child.exited;
    expect(exit.code === 0).toBe(false);
  });

  it('does not start if the signal is already aborted', async () => {
    const aborted = AbortSignal.abort(new Error('cancelled'));
    await expect(node('setInterval(() => {}, 1000)', aborted)).rejects.toThrow('cancelled');
  });

  it('keeps the last lines of a stderr flood, with URLs redacted', async () => {
    const script = `
      for (let i = 0; i < 20000; i++) console.error("line " + i + " of http://127.0.0.1:1234/secret-token?a=b'");
      console.error('x'.repeat(5_000_000));
      console.error('the end');`;
    await using child = await node(script);
    await child.exited;
    expect(child.stderr.lines).toHaveLength(40);
    expect(child.stderr.lines.at(-1)).toBe('the end');
    expect(child.stderr.lines[0]).toBe("line 19962 of <url>'");
    expect(Math.max(...child.stderr.lines.map(({ length }) => length))).toBe(400);
  });

  it("does not pass the service's environment to the child", async () => {
    process.env.http_proxy = 'http://proxy.example';
    try {
      await using child = await node('process.stdout.write(String(process.env.http_proxy))');
      expect((await firstChunk(child)).toString()).toBe('undefined');
    } finally {
      delete process.env.http_proxy;
    }
  });
});
