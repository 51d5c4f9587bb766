import { downloadEngineCheck } from '../../src/api/health.js';

const signal = new AbortController().signal;

/** The check's result for an engine whose yt-dlp is `ageDays` old. */
async function healthAt(ageDays: number) {
  const ready = { version: '2026.01.01', ageDays, javascriptRuntime: 'deno 2.6', networkLock: 'kernel' };
  const health = { status: 'ready', ready: { ...ready, potProvider: null }, enginesReady: 1, active: 0 };
  const engine = { health: () => health, run: () => Promise.resolve({}) };
  type Checked = Parameters<typeof downloadEngineCheck>[0];
  return downloadEngineCheck({
    engine: engine as unknown as Checked['engine'],
    extraction: { degradation: undefined },
  }).check(signal);
}

it.each([
  [90, 'ok', undefined],
  [91, 'degraded', expect.stringContaining('older than 90 days')],
])('reports a yt-dlp of %d days as %s', async (ageDays, status, message: unknown) => {
  const result = await healthAt(ageDays);
  expect({ status: result.status, message: result['message'] }).toEqual({ status, message });
});
