import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expectLinearTime, timed } from '../support/expectations.js';
import { otherFiles, streamingParsers } from './streaming-parsers.js';
import { wholeParsers } from './whole-parsers.js';

/**
 * Every parser of untrusted input, with its most expensive input. Streaming parsers work in
 * steps of at most 20 ms of CPU time; parsers of whole inputs take linear time. A parser
 * that isn't registered fails the first test.
 */

const source = fileURLToPath(new URL('../../src/', import.meta.url));
/** Folders that contain only parsers. */
const parserFolders = /^(?:formats|manifests|parser-process)\//;
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
const piecesBytes = 32 * 1024;
const maxPiecesMs = 400;

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
  it.each(Object.entries(inputs))('takes at most 20 ms and 4 MiB for a chunk of %s', async (_what, make) => {
    const input = make();
    const first = start();
    const before = memory();
    const fastest: number[] = [];
    let fastestReference = Infinity;
    const limit = () => maxChunkMs * Math.max(1, fastestReference / referenceMs);
    const isFast = () => fastest.length > 0 && Math.max(...fastest) < limit();
    for (let round = 0; round < maxRounds && !isFast(); round += 1) {
      if (round >= pauseFromRound) await pause(pauseMs);
      feed(round === 0 ? first : start(), input, (index, ms) => {
        fastest[index] = Math.min(fastest[index] ?? Infinity, ms);
      });
      fastestReference = Math.min(fastestReference, timed(referenceWork).ms);
    }
    expect(fastest.length).toBeGreaterThan(0);
    expect(Math.max(...fastest)).toBeLessThan(limit());
    // Garbage collection is slow, so only collect if memory may be over the limit. Buffers are freed a little later.
    for (let round = 0; round < 5 && memory() - before >= maxRetainedBytes; round += 1) {
      collectGarbage();
      await pause(50);
    }
    expect(memory() - before).toBeLessThan(maxRetainedBytes);
    // Keeps it alive until here.
    expect(first).toBeInstanceOf(Function);
  });

  it.each(Object.entries(inputs))(
    'reads 32 KiB of %s in pieces of one byte within 0.4 s of processor time',
    (_what, make) => {
      // Chunks aren't coalesced here, to test the parser's own safeguard.
      const input = make().subarray(0, piecesBytes);
      let fastest = Infinity;
      let limit = maxPiecesMs;
      for (let round = 0; round < maxRounds && fastest >= limit; round += 1) {
        fastest = Math.min(fastest, timed(() => feedPieces(start(), input)).ms);
        limit = maxPiecesMs * Math.max(1, timed(referenceWork).ms / referenceMs);
      }
      expect(fastest).toBeLessThan(limit);
    },
  );
});

describe.each(wholeParsers)('$name', ({ parse, inputs }) => {
  it.each(Object.entries(inputs))('takes linear time for %s', (_what, make) => {
    expectLinearTime((bytes) => {
      const input = make(bytes);
      return () => attempt(() => parse(input));
    });
  });
});

/** Feeds a parser until it has all input or rejects it. */
function feed(
  parse: (chunk: Buffer) => unknown,
  input: Buffer,
  note: (index: number, ms: number) => void,
): void {
  for (let index = 0; index * chunkBytes < input.length; index += 1) {
    const chunk = Buffer.from(input.subarray(index * chunkBytes, (index + 1) * chunkBytes));
    const { result: isTaken, ms } = timed(() => attempt(() => parse(chunk)));
    note(index, ms);
    if (!isTaken) return;
  }
}

/** Feeds a parser in pieces of one byte until it has all input or rejects it. */
function feedPieces(parse: (chunk: Buffer) => unknown, input: Buffer): void {
  for (let index = 0; index < input.length; index += 1)
    if (!attempt(() => parse(Buffer.from(input.subarray(index, index + 1))))) return;
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

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
