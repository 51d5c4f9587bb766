import { fileURLToPath } from 'node:url';
import { createLogger } from '@media-services/http-common';
import { z } from 'zod';
import { EngineSupervisor, type EngineEvent, type EngineOptions } from '../../src/index.js';

export const fakeEngine = fileURLToPath(new URL('../fixtures/fake-engine.mjs', import.meta.url));
const readySchema = z.object({ version: z.string(), pid: z.number() });
const resultSchema = z.object({ echo: z.string() });

export type Ready = z.output<typeof readySchema>;
export type Result = z.output<typeof resultSchema>;
export interface FakeJob {
  readonly do: string;
  readonly value?: unknown;
}

export type FakeSupervisor = EngineSupervisor<FakeJob, Result, Ready>;

export interface Fixture {
  readonly supervisor: FakeSupervisor;
  readonly events: EngineEvent[];
  /** Resolves at the next event of the type. */
  readonly nextEvent: (type: EngineEvent['type']) => Promise<EngineEvent>;
}

export function fakeSupervisor(
  options: Partial<EngineOptions<Result, Ready>> & { env?: Record<string, string> } = {},
): Fixture {
  const events: EngineEvent[] = [];
  const listeners = new Set<(event: EngineEvent) => void>();
  const { env = {}, ...rest } = options;
  const supervisor = new EngineSupervisor<FakeJob, Result, Ready>({
    name: 'fake engine',
    logger: createLogger({ service: 'test', level: 'silent' }),
    spawn: () => ({ file: process.execPath, args: [fakeEngine], env }),
    channel: 'json-lines',
    readySchema,
    resultSchema,
    poolSize: 1,
    maxQueue: 2,
    readyTimeoutMs: 120_000,
    jobTimeoutMs: 120_000,
    cancelGraceMs: 20_000,
    killGraceMs: 500,
    backoff: { initialMs: 20, maxMs: 100 },
    onEvent: (event) => {
      events.push(event);
      listeners.forEach((listener) => listener(event));
    },
    ...rest,
  });
  const nextEvent = async (type: EngineEvent['type']): Promise<EngineEvent> =>
    new Promise((resolve) => {
      const listener = (event: EngineEvent): void => {
        if (event.type !== type) return;
        listeners.delete(listener);
        resolve(event);
      };
      listeners.add(listener);
    });
  return { supervisor, events, nextEvent };
}

/** A signal that never aborts. */
export const noAbort = (): AbortSignal => new AbortController().signal;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when the process is gone (a zombie counts as gone only when reaped). */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}
