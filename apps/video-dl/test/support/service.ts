import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@media-services/http-common';
import request from 'supertest';
import { readConfig } from '../../src/config.js';
import { ParserPool, type ParserPoolOptions } from '../../src/parser-process/parser-pool.js';
import { type ContextOverrides, createVideoDlService, type VideoDlService } from '../../src/service.js';
import { ffmpegUnderTest } from './media-tools.js';

/** A video-dl on free loopback ports, stopped with its scope. */
export interface TestService extends VideoDlService, AsyncDisposable {
  /** Requests a path, with the query's values encoded. */
  get(path: string, query?: Readonly<Record<string, string>>, init?: RequestInit): Promise<Response>;
  /** Requests `/api/info` of a page. */
  info(pageUrl: string, query?: Readonly<Record<string, string>>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

const never = new AbortController().signal;
/** Importing yt-dlp is slow on a machine that is busy with other tests. */
const startTimeoutMs = 240_000;

/**
 * Starts the real service and, unless it is `cold`, waits for its engines.
 * @param env overrides for a silent service on free ports with one engine
 */
export async function startService(
  env: Readonly<Record<string, string>> = {},
  { cold = false, ...overrides }: ContextOverrides & { readonly cold?: boolean } = {},
): Promise<TestService> {
  const config = readConfig({
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    ENGINE_PROCESSES: '1',
    SHUTDOWN_GRACE_SECONDS: '0',
    YTDLP_PYTHON: process.env['YTDLP_PYTHON'],
    FFMPEG_PATH: ffmpegUnderTest,
    ...env,
  });
  const service = await createVideoDlService(config, overrides);
  const { engine } = service.context;
  if (!cold) {
    await engine.run({ kind: 'health' }, { signal: never, timeoutMs: startTimeoutMs });
    while (engine.health().enginesReady < engine.health().poolSize) await delay(20);
  }
  const get: TestService['get'] = async (path, query = {}, init = {}) =>
    fetch(`${service.url}${path}?${new URLSearchParams(query).toString()}`, init);
  return {
    ...service,
    get,
    info: async (pageUrl, query = {}) => {
      const response = await request(service.url)
        .get('/api/info')
        .query({ url: pageUrl, ...query });
      const body = response.body as Answer['body'];
      return { status: response.status, headers: new Headers(response.headers), body };
    },
    [Symbol.asyncDispose]: async () => service.stop(),
  };
}

/** Parser processes for one test. */
export function startParsers(options: Partial<ParserPoolOptions> = {}): ParserPool {
  const pool = new ParserPool({ logger: createLogger({ service: 'test', level: 'silent' }), ...options });
  // The pool may be disposed before it is ready.
  pool.start().catch(() => undefined);
  return pool;
}
