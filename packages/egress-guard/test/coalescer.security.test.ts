import { setTimeout as delay } from 'node:timers/promises';
import { Coalescer, inChunks, TinyPiecesError } from '../dist/index.js';

/** A wire that notes what it is told. */
function wire() {
  const told: string[] = [];
  const coalescer = new Coalescer({
    pause: () => void told.push('pause'),
    resume: () => void told.push('resume'),
  });
  return { told, coalescer };
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

it('passes a piece on without a copy when it is large enough', async () => {
  const { coalescer } = wire();
  const piece = Buffer.alloc(32 * kib);
  coalescer.push(piece);
  expect((await coalescer.next())?.buffer === piece.buffer).toBe(true);
});

it('gives what has come when the wire pauses', async () => {
  const { coalescer } = wire();
  coalescer.push(Buffer.from('slow but honest'));
  expect(String(await coalescer.next())).toBe('slow but honest');
  const waiting = coalescer.next();
  await delay(20);
  coalescer.push(Buffer.from('more'));
  expect(String(await waiting)).toBe('more');
});

it('throws the error that the bytes ended with, after the last of them', async () => {
  const { coalescer } = wire();
  coalescer.push(Buffer.from('the beginning'));
  coalescer.end(new Error('reset'));
  expect(String(await coalescer.next())).toBe('the beginning');
  await expect(coalescer.next()).rejects.toThrow('reset');
});

it('pauses the wire while nobody reads, and resumes it', async () => {
  const { told, coalescer } = wire();
  for (let pushed = 0; pushed < 4; pushed += 1) coalescer.push(Buffer.alloc(64 * kib));
  expect(told).toEqual(['pause']);
  for (let taken = 0; taken < 4; taken += 1) await coalescer.next();
  expect(told).toEqual(['pause', 'resume']);
});

it('slows a peer down that sends tiny pieces, and lets it go on', async () => {
  const { told, coalescer } = wire();
  const push = (count: number) => {
    for (let piece = 0; piece < count; piece += 1) coalescer.push(Buffer.alloc(1));
  };
  push(2048);
  expect(told).toEqual(['pause']);
  while (told.length < 2) await delay(2);
  push(2048);
  expect(told).toEqual(['pause', 'resume', 'pause']);
  coalescer.end();
  expect((await coalescer.next())?.length).toBe(4096);
});

it('does not slow a peer down that sends packets', async () => {
  const { told, coalescer } = wire();
  for (let piece = 0; piece < 600; piece += 1) coalescer.push(Buffer.alloc(188));
  expect(told).toEqual([]);
  coalescer.end();
  await rest(coalescer);
});

it('rejects a peer that sends a million tiny pieces', async () => {
  const { coalescer } = wire();
  const reading = rest(coalescer);
  for (let piece = 0; piece < 2 ** 20 + 4096; piece += 1) coalescer.push(Buffer.alloc(1));
  await expect(reading).rejects.toBeInstanceOf(TinyPiecesError);
});

it('lets the event loop turn while a whole input is cut into chunks', async () => {
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
