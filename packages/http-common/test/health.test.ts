import { HealthRegistry, type CheckResult } from '../src/index.js';

describe('health', () => {
  it('is 200 for ok and degraded, 503 for error, starting and draining', async () => {
    const health = new HealthRegistry({ version: '1.0.0' });
    let status: CheckResult['status'] = 'ok';
    health.add('engine', { check: async () => Promise.resolve({ status, version: '7' }), cacheMs: -1 });
    expect(await health.report()).toMatchObject({
      statusCode: 200,
      body: { status: 'ok', version: '1.0.0', checks: { engine: { status: 'ok', version: '7' } } },
    });
    for (const [next, statusCode] of [
      ['degraded', 200],
      ['error', 503],
      ['starting', 503],
    ] as const) {
      status = next;
      const fresh = new HealthRegistry({ version: '1.0.0' });
      fresh.add('engine', { check: async () => Promise.resolve({ status }) });
      expect(await fresh.report()).toMatchObject({ statusCode, body: { status: next } });
    }
    health.setDraining();
    expect(await health.report()).toMatchObject({ statusCode: 503, body: { status: 'draining' } });
  });

  it("reports the service's limits and what is switched on", async () => {
    const about = { limits: { imagesPerMinute: 5 }, features: { imageUrls: false } };
    const health = new HealthRegistry({ version: '1', ...about });
    expect((await health.report()).body).toMatchObject(about);
  });

  it('runs a check once for simultaneous requests and reuses its success', async () => {
    const health = new HealthRegistry({ version: '1' });
    let runs = 0;
    health.add('engine', {
      check: async () => {
        runs += 1;
        return Promise.resolve({ status: 'ok' });
      },
    });
    await Promise.all(Array.from({ length: 20 }, async () => health.report()));
    await health.report();
    expect(runs).toBe(1);
  });

  it('runs a check without a cache every time', async () => {
    const health = new HealthRegistry({ version: '1' });
    const answers: CheckResult[] = [{ status: 'ok' }, { status: 'error' }];
    health.add('engine', {
      check: async () => Promise.resolve(answers.shift() ?? { status: 'ok' }),
      cacheMs: 0,
    });
    expect((await health.report()).statusCode).toBe(200);
    expect((await health.report()).statusCode).toBe(503);
  });

  it('never reuses a failure', async () => {
    const health = new HealthRegistry({ version: '1' });
    const answers: CheckResult[] = [{ status: 'error' }, { status: 'ok' }];
    health.add('engine', { check: async () => Promise.resolve(answers.shift() ?? { status: 'ok' }) });
    expect((await health.report()).statusCode).toBe(503);
    expect((await health.report()).statusCode).toBe(200);
  });

  it('returns a stale success at once while it refreshes it', async () => {
    const health = new HealthRegistry({ version: '1' });
    let runs = 0;
    let release: () => void = () => undefined;
    health.add('engine', {
      cacheMs: -1,
      check: async () => {
        runs += 1;
        if (runs > 1) await new Promise<void>((resolve) => (release = resolve));
        return { status: 'ok' };
      },
    });
    await health.report();
    expect((await health.report()).statusCode).toBe(200);
    expect(runs).toBe(2);
    release();
  });

  it('reports a check that throws or never ends as error', async () => {
    const health = new HealthRegistry({ version: '1' });
    health.add('throws', { check: async () => Promise.reject(new Error('ffmpeg is not installed')) });
    health.add('stalls', { check: async () => new Promise(() => undefined), timeoutMs: 30 });
    expect((await health.report()).body.checks).toEqual({
      throws: { status: 'error', message: 'ffmpeg is not installed' },
      stalls: { status: 'error', message: 'The check did not finish in time.' },
    });
  });
});
