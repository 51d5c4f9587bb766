import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsersCheck } from '../../src/api/health.js';
import type { ParserPoolOptions } from '../../src/parser-process/parser-pool.js';
import { startParsers } from '../support/service.js';

const signal = new AbortController().signal;

async function reportOf(options: Partial<ParserPoolOptions>, until: (status: string) => boolean) {
  await using parsers = startParsers(options);
  for (;;) {
    const report = await parsersCheck({ parsers }).check(signal);
    if (until(report.status)) return report;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it('is starting until a process is ready, then ok', async () => {
  await using parsers = startParsers();
  const { check } = parsersCheck({ parsers });
  expect(await check(signal)).toMatchObject({ status: 'starting', processes: 0 });
  await parsers.start();
  expect(await check(signal)).toMatchObject({ status: 'ok', queueLength: 0, restarts: 0 });
});

it('is an error when the processes do not start', async () => {
  const report = await reportOf({ script: '/nowhere.mjs' }, (status) => status !== 'starting');
  expect(report).toMatchObject({ status: 'error', processes: 0 });
});

it('is degraded while a crashed idle process restarts, then ok', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsers-'));
  const script = join(folder, 'parser.mjs');
  const put = () =>
    writeFile(
      script,
      `import '${new URL('../../dist/parser-process/parser-process.js', import.meta.url).href}';`,
    );
  await put();
  await using parsers = startParsers({ script });
  await parsers.start();
  const { check } = parsersCheck({ parsers });
  while (parsers.health().enginesReady < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const [first] = parsers.pids();
  if (first === undefined) throw new Error('there is no process');
  await rm(script);
  process.kill(first, 'SIGKILL');
  while (parsers.health().enginesFailing === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(await check(signal)).toMatchObject({ status: 'degraded', processes: 1 });
  await put();
  while (parsers.health().enginesReady < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(await check(signal)).toMatchObject({ status: 'ok', processes: 2 });
  await rm(folder, { recursive: true });
});

it('rejects when a process returns a wrong result', async () => {
  const script = fileURLToPath(new URL('support/failing-parser.mjs', import.meta.url));
  await using parsers = startParsers({ script });
  await parsers.start();
  await expect(parsersCheck({ parsers }).check(signal)).rejects.toThrow(/another job/);
});
