import { setTimeout as delay } from 'node:timers/promises';
import { Coalescer, inChunks, TinyPiecesError } from '../src/index.js';

/** A coalescer whose source records `pause` and `resume`. */
function wire() {
  const calls: string[] = [];
  const coalescer = new Coalescer({
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
  });
  return { calls, coalescer };
}

async function rest(coalescer: Coalescer): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for (let chunk = await coalescer.next(); chunk !== null; chunk = await coalescer.next()) chunks.push(chunk);
  return chunks;
}

const kib = 1024;

it('joins pieces of one byte into chunks of 16 KiB', async () => {
  const { coalescer } = wire();
  const bytes = Buffer.from(Array.from({ length: 40 * kib }, (_, index) => index % 251));
  for (let at = 0; at < bytes.length; at += 1) coalescer.push(bytes.subarray(at, at + 1));
  coalescer.end();
  const chunks = await rest(coalescer);
  expect(chunks.map(({ length }) => length)).toEqual([16 * kib, 16 * kib, 8 * kib]);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
});

it('keeps the order of pieces of any size and cuts them at 64 KiB', async () => {
  const { coalescer } = wire();
  const pieces = [1, 3 * kib, 200 * kib, 5, 17 * kib, 2 * kib, 2 * kib - 1, 70 * kib].map((size, index) =>
    Buffer.alloc(size, index + 1),
  );
  for (const piece of pieces) coalescer.push(piece);
  coalescer.end();
  const chunks = await rest(coalescer);
  expect(Math.max(...chunks.map(({ length }) => length))).toBe(64 * kib);
  expect(Math.min(...chunks.slice(0, -1).map(({ length }) => length))).toBeGreaterThanOrEqual(16 * kib);
  expect(Buffer.concat(chunks).equals(Buffer.concat(pieces))).toBe(true);
});

it('passes on a large piece without copying', async () => {
  const { coalescer } = wire();
  const piece = Buffer.alloc(32 * kib);
  coalescer.push(piece);
  expect((await coalescer.next())?.buffer === piece.buffer).toBe(true);
});

it('returns a small chunk when the source pauses', async () => {
  const { coalescer } = wire();
  coalescer.push(Buffer.from('slow but honest'));
  expect(String(await coalescer.next())).toBe('slow but honest');
  const waiting = coalescer.next();
  await delay(20);
  coalescer.push(Buffer.from('more'));
  expect(String(await waiting)).toBe('more');
});

it('throws the error passed to end after the last chunk', async () => {
  const { coalescer } = wire();
  coalescer.push(Buffer.from('the beginning'));
  coalescer.end(new Error('reset'));
  expect(String(await coalescer.next())).toBe('the beginning');
  await expect(coalescer.next()).rejects.toThrow('reset');
});

it('pauses the source while nobody reads, then resumes it', async () => {
  const { calls, coalescer } = wire();
  for (let pushed = 0; pushed < 4; pushed += 1) coalescer.push(Buffer.alloc(64 * kib));
  expect(calls).toEqual(['pause']);
  for (let taken = 0; taken < 4; taken += 1) await coalescer.next();
  expect(calls).toEqual(['pause', 'resume']);
});

it('slows down a peer that sends tiny pieces, then lets it continue', async () => {
  const { calls, coalescer } = wire();
  const push = (count: number) => {
    for (let piece = 0; piece < count; piece += 1) coalescer.push(Buffer.alloc(1));
  };
  push(2048);
  expect(calls).toEqual(['pause']);
  while (calls.length < 2) await delay(2);
  push(2048);
  expect(calls).toEqual(['pause', 'resume', 'pause']);
  coalescer.end();
  expect((await coalescer.next())?.length).toBe(4096);
});

it('does not slow down a peer that sends normal packets', async () => {
  const { calls, coalescer } = wire();
  for (let piece = 0; piece < 600; piece += 1) coalescer.push(Buffer.alloc(188));
  expect(calls).toEqual([]);
  coalescer.end();
  await rest(coalescer);
});

it('rejects a peer that sends a million tiny pieces', async () => {
  const { coalescer } = wire();
  const reading = rest(coalescer);
  for (let piece = 0; piece < 2 ** 20 + 4096; piece += 1) coalescer.push(Buffer.alloc(1));
  await expect(reading).rejects.toBeInstanceOf(TinyPiecesError);
});

it('leaves a rejected peer paused, so that nothing parses the rest', async () => {
  vi.useFakeTimers();
  try {
    const { calls, coalescer } = wire();
    const piece = Buffer.alloc(1);
    for (let sent = 1; sent <= 2 ** 20 + 4096; sent += 1) {
      coalescer.push(piece);
      if (sent % 1024 === 0) vi.runOnlyPendingTimers();
      if (sent % (16 * kib) === 0) await coalescer.next();
    }
    expect(calls.at(-1)).toBe('pause');
  } finally {
    vi.useRealTimers();
  }
});

it('yields to the event loop while splitting a whole buffer', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  let bytes = 0;
  for await (const chunk of inChunks(Buffer.alloc(1024 * kib))) {
    bytes += chunk.length;
    const end = performance.now() + 6;
    while (performance.now() < end);
  }
  clearInterval(timer);
  expect(bytes).toBe(1024 * kib);
  expect(turns).toBeGreaterThan(5);
});
