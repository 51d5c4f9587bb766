import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError, createLogger, createMetrics, HealthRegistry, runService } from '../src/index.js';
import { rawRequest, startTestService } from './support/http.js';

describe('stopping a service', () => {
  it('lets a running request finish, rejects new connections, then disposes', async () => {
    const { service, disposed } = await startTestService();
    const response = await fetch(`${service.url}/api/hello`);
    const stopped = service.stop();
    expect(await response.json()).toEqual({ hello: 'world' });
    await stopped;
    expect(disposed()).toBe(true);
    await expect(fetch(`${service.url}/api/hello`)).rejects.toThrow();
    await expect(fetch(`${service.metricsUrl}/livez`)).rejects.toThrow();
  });

  it.each(['1.1', '1.0'])(
    'resets requests that still run after the grace period (HTTP/%s)',
    async (version) => {
      const { service, nextRequestLog } = await startTestService({ graceSeconds: 0.05 });
      const request = rawRequest(service.url, `GET /api/endless HTTP/${version}\r\nHost: test\r\n\r\n`);
      const helloLogged = nextRequestLog();
      await fetch(`${service.url}/api/hello`);
      await helloLogged;
      const logged = nextRequestLog();
      await service.stop();
      expect((await request).reset).toBe(true);
      expect(await logged).toMatchObject({
        route: '/api/endless',
        outcome: 'truncated',
        code: 'engine_unavailable',
        reason: 'The service stopped before the response was complete.',
      });
    },
  );

  it('can be requested twice', async () => {
    const { service } = await startTestService();
    await Promise.all([service.stop(), service.stop()]);
  });
});

describe('the operations port', () => {
  it('serves liveness and metrics, which the public port does not', async () => {
    const { service } = await startTestService();
    expect((await fetch(`${service.metricsUrl}/livez`)).status).toBe(200);
    expect((await fetch(`${service.metricsUrl}/metrics`)).status).toBe(200);
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${service.url}/livez`)).status).toBe(404);
    await service.stop();
  });
});

describe('a port that is taken', () => {
  it('is a configuration error that names the setting, and everything is disposed', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    let disposed = 0;
    const starting = runService({
      app: () => undefined,
      config: { HOST: '127.0.0.1', PORT: port, METRICS_PORT: 0, SHUTDOWN_GRACE_SECONDS: 1 },
      metrics: createMetrics({ service: 'test' }),
      health: new HealthRegistry({ version: '1' }),
      logger: createLogger({ service: 'test', level: 'silent' }),
      dispose: async () => {
        disposed += 1;
        return Promise.resolve();
      },
    });
    await expect(starting).rejects.toThrow(ConfigError);
    await expect(starting).rejects.toThrow(new RegExp(`PORT is ${port}, which another program already uses`));
    expect(disposed).toBe(1);
    other.close();
  });
});

(existsSync('/dev/full') ? it : it.skip)(
  'a full disk for the log neither stops a service nor keeps it from ending',
  () => {
    const logger = new URL('../dist/logging/logger.js', import.meta.url).href;
    const program = `import { createLogger } from '${logger}';
    const logger = createLogger({ service: 'x', level: 'info' });
    for (let line = 0; line < 10; line += 1) logger.info('line');
    setTimeout(() => { logger.info('last'); console.error('running'); }, 50);`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
      timeout: 10_000,
    });

    expect({ status, stderr }).toEqual({ status: 0, stderr: 'running\n' });
  },
);
