import { fileURLToPath } from 'node:url';
import type { Logger } from '@media-services/http-common';
import type { ParserPool, ParserPoolOptions } from '../../src/parser-process/parser-pool.js';
import { startParsers } from '../support/service.js';

/** An input can harm only the process that parses it. */

const script = fileURLToPath(new URL('support/failing-parser.mjs', import.meta.url));
const signal = new AbortController().signal;

let pool: ParserPool;
let log: string;

const mebibyte = 1024 ** 2;

type Limits = Pick<ParserPoolOptions, 'maxProcessorMs' | 'maxMemoryBytes' | 'maxDataBytes'>;

async function start(limits: Limits = {}): Promise<void> {
  log = '';
  const write = (facts: object, message: string): void => {
    log += `${JSON.stringify(facts)} ${message}\n`;
  };
  const logger = { error: write, warn: write, info: write, debug: () => undefined, child: () => logger };
  pool = startParsers({
    script,
    logger: logger as unknown as Logger,
    maxProcessorMs: 60_000,
    maxMemoryBytes: 300 * mebibyte,
    maxDataBytes: 300 * mebibyte,
    ...limits,
  });
  await pool.start();
}
afterEach(() => pool[Symbol.asyncDispose]());

const parse = (what: string, client = 'a', of = signal): Promise<string | null> =>
  pool.forClient(client)({ kind: 'initialisation', bytes: Buffer.from(what), readsAudioOnly: false }, of);

describe('a parser process', () => {
  it.each([
    ['never ends', 'loop', /more than 1 s of processor time/],
    ['fills the heap', 'heap', /heap out of memory|SIGABRT/],
    [
      'fills the memory outside the heap',
      'buffers',
      /bytes of memory|Array buffer allocation failed|Failed to allocate memory/,
    ],
    ['fills it within milliseconds', 'burst', /Array buffer allocation failed|Failed to allocate memory/],
    ['crashes', 'crash', /SIGABRT/],
    ['exits', 'exit', /exit code 7/],
    ['has a bug', 'mistake', /undefined is not a function/],
  ])(
    'that %s fails one request, with its reason in the log, and none after it',
    async (_how, what, reason) => {
      await start(what === 'loop' ? { maxProcessorMs: 1000 } : {});
      const [bad, beside] = await Promise.allSettled([parse(what, 'a'), parse('fine', 'b')]);
      expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'no_media' } });
      expect(beside.status).toBe('fulfilled');
      await expect(parse('fine', 'a')).resolves.toMatch(/^\d+$/);
      await expect(parse('fine', 'b')).resolves.toMatch(/^\d+$/);
      expect(log).toMatch(reason);
    },
  );

  describe('that fills the memory outside the heap is killed', () => {
    const unlimited = 4096 * mebibyte;

    it('by our monitoring, without the kernel limit', async () => {
      await start({ maxDataBytes: unlimited });
      await expect(parse('buffers')).rejects.toMatchObject({ code: 'no_media' });
      expect(log).toMatch(/more than 300 MiB of memory/);
      await expect(parse('fine')).resolves.toMatch(/^\d+$/);
    });

    it('by the kernel, without our monitoring', async () => {
      await start({ maxMemoryBytes: unlimited });
      await expect(parse('buffers')).rejects.toMatchObject({ code: 'no_media' });
      expect(log).toMatch(/Array buffer allocation failed|Failed to allocate memory/);
      await expect(parse('fine')).resolves.toMatch(/^\d+$/);
    });
  });

  it('stays free for other clients while one client sends many inputs that hang', async () => {
    await start();
    const ended = new AbortController();
    const stuck = Array.from({ length: 10 }, () => parse('loop', 'greedy', ended.signal).catch(() => null));
    const others = await Promise.all(['b', 'c', 'd'].map((client) => parse('fine', client)));
    // The greedy client occupies the other process.
    expect(new Set(others).size).toBe(1);
    ended.abort();
    await Promise.all(stuck);
  });

  it('is killed with the job that its client cancelled', async () => {
    await start();
    const ended = new AbortController();
    const before = await Promise.all([parse('fine', 'a'), parse('fine', 'b')]);
    const stuck = parse('loop', 'a', ended.signal);
    // The other job is running by now.
    await parse('fine', 'b');
    ended.abort(new Error('client gone'));
    await expect(stuck).rejects.toThrow('client gone');
    const pids = async () => Promise.all([parse('fine', 'a'), parse('fine', 'b'), parse('fine', 'c')]);
    let after = await pids();
    while (new Set(after).size < 2) after = await pids();
    expect(before.every((pid) => after.includes(pid))).toBe(false);
  });
});
