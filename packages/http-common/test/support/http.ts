import {
  createLogger,
  createMetrics,
  HealthRegistry,
  methods,
  requestContext,
  runService,
  sharedErrors,
  createHttpApp,
  type Metrics,
  type RunningService,
} from '../../src/index.js';
import { DomainError } from '../../src/index.js';
import { pino } from 'pino';
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';

export interface LogLine {
  readonly [field: string]: unknown;
}

export interface TestService {
  readonly service: RunningService;
  readonly metrics: Metrics;
  readonly health: HealthRegistry;
  readonly log: LogLine[];
  /** Resolves with the next `request` log line. */
  readonly nextRequestLog: () => Promise<LogLine>;
  readonly disposed: () => boolean;
  /** Makes the running request to `/api/cut` fail. */
  readonly cut: () => void;
  /** Resolves when `/api/bytes` has passed its next response on to the kernel. */
  readonly nextWritten: () => Promise<void>;
}

/** A service with one route for every way a request can end. */
export async function startTestService(
  options: {
    graceSeconds?: number;
    trustProxyHops?: number;
    gatewaySecret?: string;
    docsBaseUrl?: string;
  } = {},
): Promise<TestService> {
  const metrics = createMetrics({ service: 'test' });
  let cut: () => void = () => undefined;
  let onWritten: () => void = () => undefined;
  const health = new HealthRegistry({ version: '1.2.3' });
  const log: LogLine[] = [];
  const waiting = new Set<(line: LogLine) => void>();
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = JSON.parse(chunk.toString()) as LogLine;
      log.push(line);
      if (line.msg === 'request') {
        waiting.forEach((resolve) => resolve(line));
        waiting.clear();
      }
      done();
    },
  });
  const logger = pino({ level: 'debug' }, sink);
  const app = createHttpApp({
    logger,
    metrics,
    trustProxyHops: options.trustProxyHops ?? 0,
    gatewaySecret: options.gatewaySecret ?? '',
    errors: sharedErrors,
    docsBaseUrl: options.docsBaseUrl ?? '',
    routes: (router) => {
      methods(router, '/api/hello', {
        get: async (_req, res) => {
          const context = requestContext(res);
          await context.timings.measure('think', async () => Promise.resolve());
          context.note({ host: 'example.com' });
          res.json({ hello: 'world' });
        },
      });
      methods(router, '/api/client', {
        get: (_req, res) => void res.json({ client: requestContext(res).client }),
      });
      methods(router, '/api/health', { get: health.handler });
      methods(router, '/api/busy', {
        get: () => {
          throw new DomainError('overloaded', 'Too much to do.', { retryAfterSeconds: 7.2 });
        },
      });
      methods(router, '/api/bug', {
        get: () => {
          throw new Error('password=hunter2 in /etc/secret');
        },
      });
      methods(router, '/api/cut', {
        get: async (_req, res) => {
          res.write('first part');
          await new Promise<void>((resolve) => (cut = resolve));
          throw new DomainError('timeout', 'It took too long.');
        },
      });
      methods(router, '/api/waiting', { get: () => new Promise(() => undefined) });
      methods(router, '/api/upload', {
        post: async (req, res) => {
          let bytes = 0;
          for await (const chunk of req) bytes += (chunk as Buffer).length;
          res.json({ bytes });
        },
      });
      methods(router, '/api/bytes', {
        get: (req, res) => {
          res.once('finish', () => onWritten());
          const body = Buffer.alloc(Number(req.query.length));
          res.type('application/octet-stream');
          if ('chunked' in req.query) res.write(body, () => res.end());
          else res.send(body);
        },
      });
      methods(router, '/api/endless', {
        get: async (_req, res) => {
          res.write('first part');
          await new Promise((_resolve, reject) => {
            const { signal } = requestContext(res);
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          });
        },
      });
    },
  });
  let isDisposed = false;
  const service = await runService({
    app,
    config: {
      HOST: '127.0.0.1',
      PORT: 0,
      METRICS_PORT: 0,
      SHUTDOWN_GRACE_SECONDS: options.graceSeconds ?? 5,
    },
    metrics,
    health,
    logger: createLogger({ service: 'test', level: 'silent' }),
    dispose: async () => {
      isDisposed = true;
      return Promise.resolve();
    },
  });
  return {
    service,
    metrics,
    health,
    log,
    nextRequestLog: async () => new Promise((resolve) => waiting.add(resolve)),
    disposed: () => isDisposed,
    cut: () => cut(),
    nextWritten: async () => new Promise((resolve) => (onWritten = resolve)),
  };
}

/** Sends raw bytes. Resolves with the response and whether the connection was reset. */
export async function rawRequest(
  url: string,
  request: string,
  onData: (socket: Socket) => void = () => undefined,
): Promise<{ text: string; reset: boolean }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    let reset = false;
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      onData(socket);
    });
    socket.on('error', () => (reset = true));
    socket.on('close', () => resolve({ text, reset }));
  });
}
