import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { otherFiles, streamingParsers } from './streaming-parsers.js';
import { wholeParsers } from './whole-parsers.js';

/**
 * Every parser of untrusted input, with its most expensive input. Streaming parsers work in
 * steps of at most 20 ms of CPU time; parsers of whole inputs take linear time. A parser
 * that isn't registered fails the first test.
 */

const source = fileURLToPath(new URL('../../src/', import.meta.url));
/** Folders that contain only parsers. */
const parserFolders = /^(?:containers|parsing|relay\/(?:join|hls|dash))\//;
/** Patterns of code that parses bytes or text. */
const takesApart = /\.read(?:Big)?(?:U?Int|Float|Double)\w*\(|JSON\.parse\(|SaxesParser|\.matchAll\(/;

const chunkBytes = 64 * 1024;
const maxChunkMs = 20;
/** Time of `referenceWork` on a machine where the limit is exactly 20 ms. On a slower machine the limit grows in proportion. */
const referenceMs = 4.5;
const maxRetainedBytes = 4 * 1024 ** 2;
/** The compiler, the garbage collector and other programs slow down some rounds, but not all. */
const maxRounds = 24;
/** From this round on, we pause to let other work on the machine finish. */
const pauseFromRound = 8;
const pauseMs = 200;
const piecesBytes = 128 * 1024;
const maxPiecesMs = 1_500;

it('covers every file that parses bytes or text', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const parsers = files.filter(
    (name) => parserFolders.test(name) || takesApart.test(readFileSync(join(source, name), 'utf8')),
  );
  const known = new Set([
    ...[...streamingParsers, ...wholeParsers].flatMap((parser) => parser.files),
    ...Object.keys(otherFiles),
  ]);
  expect(parsers.filter((name) => !known.has(name))).toEqual([]);
  expect([...known].filter((name) => !files.includes(name))).toEqual([]);
});

describe.each(streamingParsers)('$name', ({ start, inputs }) => {
  it.each(Object.entries(inputs))('takes at most 20 ms for a chunk of %s', async (_what, make) => {
    const input = make();
    const fastest: number[] = [];
    let fastestReference = Infinity;
    const limit = () => maxChunkMs * Math.max(1, fastestReference / referenceMs);
    const isFast = () => fastest.length > 0 && Math.max(...fastest) < limit();
    for (let round = 0; round < maxRounds && !isFast(); round += 1) {
      if (round >= pauseFromRound) await pause(pauseMs);
      feed(start(), input, chunkBytes, (index, ms) => {
        fastest[index] = Math.min(fastest[index] ?? Infinity, ms);
      });
      fastestReference = Math.min(fastestReference, timed(referenceWork).ms);
    }
    expect(fastest.length).toBeGreaterThan(0);
    expect(Math.max(...fastest)).toBeLessThan(limit());
  });

  it.each(Object.entries(inputs))('keeps at most 4 MiB of %s', async (_what, make) => {
    const input = make();
    const parse = start();
    const before = memory();
    feed(parse, input, chunkBytes);
    // Garbage collection is slow, so only collect if memory may be over the limit. Buffers are freed a little later.
    for (let round = 0; round < 5 && memory() - before >= maxRetainedBytes; round += 1) {
      collectGarbage();
      await pause(50);
    }
    expect(memory() - before).toBeLessThan(maxRetainedBytes);
    // Keeps it alive until here.
    expect(parse).toBeInstanceOf(Function);
  });

  it.each(Object.entries(inputs))(
    'reads 128 KiB of %s in pieces of one byte within 1.5 s of processor time',
    (_what, make) => {
      // Chunks aren't coalesced here, to test the parser's own safeguard.
      const input = make().subarray(0, piecesBytes);
      let fastest = Infinity;
      for (let round = 0; round < maxRounds && fastest >= maxPiecesMs; round += 1) {
        const before = process.cpuUsage();
        feed(start(), input, 1);
        fastest = Math.min(fastest, process.cpuUsage(before).user / 1000);
      }
      expect(fastest).toBeLessThan(maxPiecesMs);
    },
  );
});

describe.each(wholeParsers)('$name', ({ parse, inputs }) => {
  it.each(Object.entries(inputs))('takes linear time for %s', (_what, make) => {
    const time = (size: number) => {
      const input = make(size);
      return Math.min(...[1, 2, 3].map(() => elapsed(() => attempt(() => parse(input)))));
    };
    const [small, large] = [time(100_000), time(1_600_000)];
    expect(large).toBeLessThan(100 * small + 300);
  });
});

/** Feeds a parser until it has all input or rejects it. */
function feed(
  parse: (chunk: Buffer) => unknown,
  input: Buffer,
  size: number,
  note: (index: number, ms: number) => void = () => undefined,
): void {
  for (let index = 0; index * size < input.length; index += 1) {
    const chunk = Buffer.from(input.subarray(index * size, (index + 1) * size));
    const { result: isTaken, ms } = timed(() => attempt(() => parse(chunk)));
    note(index, ms);
    if (!isTaken) return;
  }
}

/** Milliseconds of CPU time that some work takes. */
function timed<Result>(work: () => Result): { result: Result; ms: number } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: (user + system) / 1000 };
}

const referenceBytes = Buffer.alloc(chunkBytes, 7);

/** Reads every byte of a chunk 64 times, to measure how fast the CPU currently is. */
function referenceWork(): number {
  let sum = 0;
  for (let pass = 0; pass < 64; pass += 1)
    for (let index = 0; index < referenceBytes.length; index += 1)
      sum = (sum * 31 + (referenceBytes[index] ?? 0)) | 0;
  return sum;
}

/** @returns false when the parser rejects its input with its own error */
function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof Error && !(error instanceof TypeError)) return false;
    throw error;
  }
}

function elapsed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
