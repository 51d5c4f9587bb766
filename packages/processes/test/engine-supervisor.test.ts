import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DomainError } from '@media-services/http-common';
import { EngineJobError } from '../src/index.js';
import {
  fakeEngine,
  fakeSupervisor,
  gone,
  isAlive,
  noAbort,
  type FakeSupervisor,
  type Fixture,
} from './support/supervisor.js';

const started: FakeSupervisor[] = [];

async function start(options?: Parameters<typeof fakeSupervisor>[0]): Promise<Fixture> {
  const fixture = fakeSupervisor(options);
  started.push(fixture.supervisor);
  await fixture.supervisor.start();
  return fixture;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map(async (supervisor) => supervisor[Symbol.asyncDispose]()));
});

const code = (error: unknown): string => (error instanceof DomainError ? error.code : String(error));
const failure = async (work: Promise<unknown>): Promise<string> => work.then(() => 'no error', code);

describe('an engine pool', () => {
  it("is starting before the handshake, then ready with the engine's handshake data", async () => {
    const { supervisor } = fakeSupervisor();
    started.push(supervisor);
    expect(supervisor.health().status).toBe('starting');
    await supervisor.start();
    expect(supervisor.health()).toMatchObject({
      status: 'ready',
      enginesReady: 1,
      ready: { version: '1.0' },
    });
  });

  it('starts its other engines after the first one, after a delay, or when told', async () => {
    const together = await start({ poolSize: 2 });
    await together.nextEvent('ready');
    const delayed = await start({ poolSize: 2, othersAfterMs: 20 });
    await delayed.nextEvent('ready');
    const waiting = await start({ poolSize: 2, othersAfterMs: Infinity });
    expect(together.supervisor.pids()).toHaveLength(2);
    expect(delayed.supervisor.pids()).toHaveLength(2);
    expect(waiting.supervisor.pids()).toHaveLength(1);
    const isReady = waiting.nextEvent('ready');
    waiting.supervisor.startOthers();
    await isReady;
    expect(waiting.supervisor.pids()).toHaveLength(2);
  });

  it('starts its other engines as soon as a job waits, whatever their delay', async () => {
    const { supervisor, nextEvent } = await start({ poolSize: 2, othersAfterMs: 3_600_000 });
    const isReady = nextEvent('ready');
    const ending = new AbortController();
    const hung = supervisor.run({ do: 'stall' }, { signal: ending.signal });
    await expect(supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'x',
    });
    await isReady;
    ending.abort(new Error('the test is over'));
    await expect(hung).rejects.toThrow('the test is over');
  });

  it.each(['json-lines', 'ipc'] as const)('runs jobs over %s', async (channel) => {
    const { supervisor } = await start({ channel });
    await expect(supervisor.run({ do: 'echo', value: 'grüße\n' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'grüße\n',
    });
  });

  it.each(['json-lines', 'ipc'] as const)('passes a step and its reply over %s', async (channel) => {
    const { supervisor } = await start({ channel });
    const onStep = (step: unknown) => Promise.resolve({ seen: step });
    await expect(supervisor.run({ do: 'step', value: 7 }, { signal: noAbort(), onStep })).resolves.toEqual({
      echo: JSON.stringify({ seen: 7 }),
    });
  });

  it.each(['json-lines', 'ipc'] as const)(
    'lets engines prepare, later ones too, over %s',
    async (channel) => {
      const { supervisor } = await start({ channel });
      const wasPrepared = () => supervisor.run({ do: 'was-prepared' }, { signal: noAbort() });
      await expect(wasPrepared()).resolves.toEqual({ echo: 'false' });
      supervisor.prepare();
      await expect(wasPrepared()).resolves.toEqual({ echo: 'true' });
      await supervisor.recycle('test');
      await expect(wasPrepared()).resolves.toEqual({ echo: 'true' });
    },
  );

  it("fails a job whose step fails, with the step's error", async () => {
    const { supervisor } = await start();
    const onStep = () => Promise.reject(new Error('no reply available'));
    await expect(supervisor.run({ do: 'step' }, { signal: noAbort(), onStep })).rejects.toThrow(
      'no reply available',
    );
    await expect(supervisor.run({ do: 'step' }, { signal: noAbort() })).rejects.toThrow(
      'that nothing handles',
    );
    await expect(supervisor.run({ do: 'echo', value: 'on' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'on',
    });
  });

  it('passes binary data over ipc', async () => {
    const { supervisor } = await start({ channel: 'ipc' });
    const value = new Uint8Array(3 * 1024 * 1024);
    await expect(supervisor.run({ do: 'bytes', value }, { signal: noAbort() })).resolves.toEqual({
      echo: String(value.byteLength),
    });
  });

  it('gives each process one job at a time and uses the whole pool', async () => {
    const { supervisor } = await start({ poolSize: 2, maxQueue: 10 });
    const controller = new AbortController();
    const stalled = failure(supervisor.run({ do: 'stall' }, { signal: controller.signal }));
    await expect(supervisor.run({ do: 'echo', value: 'b' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'b',
    });
    controller.abort(new Error('enough'));
    expect(await stalled).toContain('enough');
  });

  it("reports the engine's error for a failed job and keeps the engine", async () => {
    const { supervisor } = await start();
    const pids = supervisor.pids();
    const error: unknown = await supervisor
      .run({ do: 'fail' }, { signal: noAbort() })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(EngineJobError);
    expect(error).toMatchObject({ payload: { reason: 'no such page' } });
    expect(supervisor.pids()).toEqual(pids);
  });
});

describe('the queue', () => {
  it('rejects a job beyond its limit as overloaded with a Retry-After, and runs waiting jobs in order', async () => {
    const { supervisor } = await start({ maxQueue: 2 });
    const controller = new AbortController();
    const order: string[] = [];
    const stalled = failure(supervisor.run({ do: 'stall' }, { signal: controller.signal }));
    const waiting = ['first', 'second'].map(async (value) => {
      const { echo } = await supervisor.run({ do: 'echo', value }, { signal: noAbort() });
      order.push(echo);
    });
    expect(supervisor.health()).toMatchObject({ queueLength: 2, active: 1 });
    const rejected: unknown = await supervisor
      .run({ do: 'echo' }, { signal: noAbort() })
      .catch((e: unknown) => e);
    expect(rejected).toMatchObject({ code: 'overloaded', retryAfterSeconds: expect.any(Number) as number });
    controller.abort();
    await stalled;
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'second']);
  });

  it('removes a waiting job that is cancelled', async () => {
    const { supervisor } = await start();
    const running = new AbortController();
    const waiting = new AbortController();
    const stalled = failure(supervisor.run({ do: 'stall' }, { signal: running.signal }));
    const queued = failure(supervisor.run({ do: 'echo' }, { signal: waiting.signal }));
    waiting.abort(new Error('left'));
    expect(await queued).toContain('left');
    expect(supervisor.health().queueLength).toBe(0);
    running.abort();
    await stalled;
  });

  it('reports a job that waited until its deadline as overloaded', async () => {
    const { supervisor } = await start();
    const running = new AbortController();
    const stalled = failure(supervisor.run({ do: 'stall' }, { signal: running.signal }));
    expect(await failure(supervisor.run({ do: 'echo' }, { signal: noAbort(), timeoutMs: 50 }))).toBe(
      'overloaded',
    );
    running.abort();
    await stalled;
  });
});

describe('a misbehaving engine', () => {
  it.each(['crash', 'garbage', 'wrong-id', 'die-mid-answer', 'endless-line'])(
    'that does %s fails its job as engine_unavailable, and the next job works',
    async (behaviour) => {
      const { supervisor } = await start();
      expect(await failure(supervisor.run({ do: behaviour }, { signal: noAbort() }))).toBe(
        'engine_unavailable',
      );
      await expect(supervisor.run({ do: 'echo', value: 'alive' }, { signal: noAbort() })).resolves.toEqual({
        echo: 'alive',
      });
      expect(supervisor.health()).toMatchObject({ status: 'ready', restarts: 1 });
    },
  );

  it('that returns an invalid result fails that job as an internal error and stays up', async () => {
    const { supervisor } = await start();
    const pids = supervisor.pids();
    expect(await failure(supervisor.run({ do: 'wrong-result' }, { signal: noAbort() }))).toContain(
      'invalid result',
    );
    await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
    expect(supervisor.pids()).toEqual(pids);
  });

  it('that dies in job after job never counts as failing to start', async () => {
    const { supervisor } = await start();
    for (let death = 0; death < 5; death += 1) {
      expect(await failure(supervisor.run({ do: 'crash' }, { signal: noAbort() }))).toBe(
        'engine_unavailable',
      );
    }
    await expect(supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'x',
    });
  });

  it.each(['take-memory', 'take-memory-in-child'])(
    'that exceeds its memory limit during a job is killed (%s)',
    async (behaviour) => {
      const { supervisor } = await start({ maxMemoryBytes: 300 * 1024 * 1024 });
      const [pid] = supervisor.pids();
      await expect(supervisor.run({ do: behaviour }, { signal: noAbort() })).rejects.toMatchObject({
        name: 'EngineMemoryError',
      });
      await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
      expect(isAlive(pid ?? 0)).toBe(false);
    },
  );

  it("that needs more processor time than its limit during a job is killed; waiting and earlier jobs don't count", async () => {
    const { supervisor } = await start({ maxJobProcessorMs: 1500 });
    const [pid] = supervisor.pids();
    const compute = (ms: number) => supervisor.run({ do: 'compute', value: ms }, { signal: noAbort() });
    await expect(compute(1000)).resolves.toEqual({ echo: 'computed' });
    await expect(compute(1000)).resolves.toEqual({ echo: 'computed' });
    const waiting = supervisor.run({ do: 'stall' }, { signal: AbortSignal.timeout(2000) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(supervisor.pids()).toEqual([pid]);
    await expect(compute(60_000)).rejects.toMatchObject({ name: 'EngineProcessorError' });
    await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
    expect(isAlive(pid ?? 0)).toBe(false);
  });

  it('that is killed from outside fails its job at once and is replaced', async () => {
    const { supervisor } = await start();
    const [pid] = supervisor.pids();
    const running = failure(supervisor.run({ do: 'stall' }, { signal: noAbort() }));
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await running).toBe('engine_unavailable');
    await expect(supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'x',
    });
    expect(supervisor.pids()).not.toEqual([pid]);
  });

  it('that stalls fails its job as timeout and is ready for the next job', async () => {
    const { supervisor } = await start();
    expect(await failure(supervisor.run({ do: 'stall' }, { signal: noAbort(), timeoutMs: 100 }))).toBe(
      'timeout',
    );
    await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
    expect(supervisor.health().restarts).toBe(0);
  });

  it('that does not end a cancelled job is killed and replaced', async () => {
    const { supervisor } = await start({ cancelGraceMs: 50 });
    const [pid] = supervisor.pids();
    expect(
      await failure(supervisor.run({ do: 'stall-for-ever' }, { signal: noAbort(), timeoutMs: 50 })),
    ).toBe('timeout');
    await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
    expect(isAlive(pid ?? 0)).toBe(false);
  });

  it('that floods stderr neither blocks nor fails', async () => {
    const { supervisor } = await start();
    await expect(
      supervisor.run({ do: 'flood-stderr', value: 'dry' }, { signal: noAbort() }),
    ).resolves.toEqual({
      echo: 'dry',
    });
  });

  it('that ignores SIGTERM is killed when the pool is disposed', async () => {
    const { supervisor } = await start({ env: { FAKE_IGNORE_SIGTERM: '1' }, killGraceMs: 50 });
    const pids = supervisor.pids();
    await supervisor[Symbol.asyncDispose]();
    expect(pids.map(isAlive)).toEqual([false]);
  });

  it('is killed together with its children', async () => {
    const { supervisor } = await start();
    const { echo: childPid } = await supervisor.run({ do: 'start-child' }, { signal: noAbort() });
    expect(isAlive(Number(childPid))).toBe(true);
    await supervisor[Symbol.asyncDispose]();
    await gone(Number(childPid));
  });

  it('whose leader crashes leaves no child behind and is replaced', async () => {
    const { supervisor } = await start();
    const { echo: childPid } = await supervisor.run({ do: 'start-child' }, { signal: noAbort() });
    expect(await failure(supervisor.run({ do: 'crash' }, { signal: noAbort() }))).toBe('engine_unavailable');
    await gone(Number(childPid));
    await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
  });
});

describe('a start that fails', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), 'engine-'))));
  afterEach(async () => rm(folder, { recursive: true }));

  it('is retried with back-off until it works', async () => {
    const file = path.join(folder, 'go');
    const { supervisor, events, nextEvent } = fakeSupervisor({
      env: { FAKE_START: 'crash-until-file', FAKE_FILE: file },
    });
    started.push(supervisor);
    const ready = supervisor.start();
    await nextEvent('restart');
    await nextEvent('restart');
    expect(supervisor.health().status).toBe('failing');
    await writeFile(file, '');
    await ready;
    const delays = events.flatMap((event) => (event.type === 'restart' ? [event.delayMs] : []));
    expect(delays.slice(0, 2)).toEqual([20, 40]);
    expect(supervisor.health().status).toBe('ready');
  });

  it.each(['crash', 'wrong-ready'])(
    'repeatedly (%s) makes jobs fail as engine_unavailable',
    async (FAKE_START) => {
      const { supervisor, nextEvent } = fakeSupervisor({ env: { FAKE_START } });
      started.push(supervisor);
      const ready = failure(supervisor.start());
      const waiting = failure(supervisor.run({ do: 'echo' }, { signal: noAbort() }));
      expect(await waiting).toBe('engine_unavailable');
      await nextEvent('exit');
      expect(await failure(supervisor.run({ do: 'echo' }, { signal: noAbort() }))).toBe('engine_unavailable');
      expect(supervisor.health()).toMatchObject({
        status: 'failing',
        lastError: expect.any(String) as string,
      });
      await supervisor[Symbol.asyncDispose]();
      expect(await ready).toBe('engine_unavailable');
    },
  );

  it('because the engine never becomes ready is ended at the ready deadline', async () => {
    const { supervisor, nextEvent } = fakeSupervisor({
      env: { FAKE_START: 'never-ready' },
      readyTimeoutMs: 300,
    });
    started.push(supervisor);
    const exited = nextEvent('exit');
    const ready = failure(supervisor.start());
    const exit = await exited;
    expect(exit).toMatchObject({
      expected: false,
      reason: expect.stringContaining('not ready within') as string,
    });
    await supervisor[Symbol.asyncDispose]();
    expect(await ready).toBe('engine_unavailable');
  });

  it('is not assumed while steps report progress beyond the ready deadline', async () => {
    const { supervisor } = await start({ env: { FAKE_START: 'step-by-step' }, readyTimeoutMs: 4000 });
    expect(supervisor.health()).toMatchObject({ status: 'ready', restarts: 0 });
  });

  it("is abandoned when the caller's signal aborts", async () => {
    const { supervisor } = fakeSupervisor({ env: { FAKE_START: 'never-ready' } });
    started.push(supervisor);
    await expect(supervisor.start(AbortSignal.timeout(50))).rejects.toThrow(/timeout/i);
  });
});

describe('recycling', () => {
  it('replaces a process after the configured number of jobs without failing one', async () => {
    const { supervisor, events } = await start({ recycleAfterJobs: 2, maxQueue: 10 });
    const pids = new Set<number | undefined>();
    for (let job = 0; job < 6; job += 1) {
      const { echo } = await supervisor.run({ do: 'echo', value: String(job) }, { signal: noAbort() });
      expect(echo).toBe(String(job));
      pids.add(supervisor.health().ready?.pid);
    }
    expect(events.filter(({ type }) => type === 'recycle').length).toBeGreaterThanOrEqual(2);
    expect(events.filter((event) => event.type === 'exit' && !event.expected)).toEqual([]);
  });

  it('replaces a process whose memory is above the limit', async () => {
    const { supervisor, nextEvent } = await start({ recycleAboveBytes: 150 * 1024 * 1024 });
    const recycled = nextEvent('recycle');
    await supervisor.run({ do: 'use-memory' }, { signal: noAbort() });
    expect(await recycled).toMatchObject({ reason: expect.stringContaining('bytes of memory') as string });
    await supervisor.run({ do: 'echo', value: 'x' }, { signal: noAbort() });
  });
});

describe('replacing all engines', () => {
  it('lets the running job finish, keeps the waiting one and starts new processes', async () => {
    const { supervisor } = await start({ poolSize: 2, maxQueue: 4 });
    await supervisor.run({ do: 'echo', value: 'warm' }, { signal: noAbort() });
    const before = supervisor.pids();
    const running = supervisor.run({ do: 'flood-stderr', value: 'running' }, { signal: noAbort() });
    const recycled = supervisor.recycle('a new version');
    const waiting = supervisor.run({ do: 'echo', value: 'waiting' }, { signal: noAbort() });
    await expect(running).resolves.toEqual({ echo: 'running' });
    await expect(waiting).resolves.toEqual({ echo: 'waiting' });
    await recycled;
    expect(supervisor.pids().filter((pid) => before.includes(pid))).toEqual([]);
    expect(supervisor.health().enginesReady).toBe(2);
  });

  it('reports a new process that does not start, and leaves the others alone', async () => {
    const env: Record<string, string> = {};
    const { supervisor } = await start({
      poolSize: 2,
      spawn: () => ({ file: process.execPath, args: [fakeEngine], env }),
    });
    env['FAKE_START'] = 'crash';
    expect(await failure(supervisor.recycle('a broken version'))).toBe('engine_unavailable');
    await expect(supervisor.run({ do: 'echo', value: 'old' }, { signal: noAbort() })).resolves.toEqual({
      echo: 'old',
    });
  });
});

describe('clients that share a pool', () => {
  const stall = (supervisor: FakeSupervisor, client: string, signal: AbortSignal) =>
    failure(supervisor.run({ do: 'stall' }, { signal, client }));

  it('leave an engine for a newcomer', async () => {
    const { supervisor } = await start({ poolSize: 2, maxQueue: 10, maxRunningPerClient: 1 });
    const leaving = new AbortController();
    const greedy = Array.from({ length: 6 }, () => stall(supervisor, 'greedy', leaving.signal));
    await expect(
      supervisor.run({ do: 'echo', value: 'served' }, { signal: noAbort(), client: 'newcomer' }),
    ).resolves.toEqual({ echo: 'served' });
    expect(supervisor.health()).toMatchObject({ active: 1, queueLength: 5 });
    leaving.abort();
    await Promise.all(greedy);
  });

  it('take turns', async () => {
    const { supervisor } = await start({ maxQueue: 10 });
    const leaving = new AbortController();
    const stalled = stall(supervisor, 'greedy', leaving.signal);
    const order: string[] = [];
    const jobs = ['greedy', 'greedy', 'greedy', 'newcomer', 'other'].map(async (client) => {
      await supervisor.run({ do: 'echo', value: client }, { signal: noAbort(), client });
      order.push(client);
    });
    leaving.abort();
    await Promise.all([stalled, ...jobs]);
    expect(order).toEqual(['newcomer', 'other', 'greedy', 'greedy', 'greedy']);
  });

  it('make room in a full queue for the client with fewer waiting jobs', async () => {
    const { supervisor } = await start({ maxQueue: 3 });
    const leaving = new AbortController();
    const greedy = Array.from({ length: 4 }, () => stall(supervisor, 'greedy', leaving.signal));
    const newcomer = supervisor.run({ do: 'echo', value: 'in' }, { signal: noAbort(), client: 'newcomer' });
    expect(await greedy[3]).toBe('overloaded');
    expect(await stall(supervisor, 'greedy', leaving.signal)).toBe('overloaded');
    leaving.abort();
    await Promise.all(greedy);
    await expect(newcomer).resolves.toEqual({ echo: 'in' });
  });
});

describe('shutting down', () => {
  it('rejects new jobs while running ones finish', async () => {
    const { supervisor } = await start();
    const running = supervisor.run({ do: 'flood-stderr', value: 'done' }, { signal: noAbort() });
    supervisor.drain();
    expect(await failure(supervisor.run({ do: 'echo' }, { signal: noAbort() }))).toBe('engine_unavailable');
    await expect(running).resolves.toEqual({ echo: 'done' });
  });

  it('fails running and waiting jobs and leaves no process', async () => {
    const { supervisor } = await start();
    const pids = supervisor.pids();
    const running = failure(supervisor.run({ do: 'stall-for-ever' }, { signal: noAbort() }));
    const waiting = failure(supervisor.run({ do: 'echo' }, { signal: noAbort() }));
    await supervisor[Symbol.asyncDispose]();
    expect(await Promise.all([running, waiting])).toEqual(['engine_unavailable', 'engine_unavailable']);
    expect(pids.map(isAlive)).toEqual([false]);
  });
});
