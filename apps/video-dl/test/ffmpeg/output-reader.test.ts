import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { batchBytes, OutputReader } from '../../src/ffmpeg/output-reader.js';

const chunk = Buffer.alloc(32 * 1024, 1);

const bytesOf = (chunks: readonly Buffer[] | null): number =>
  (chunks ?? []).reduce((sum, { length }) => sum + length, 0);

describe('the reader of ffmpeg’s output', () => {
  it('returns the first chunk at once', async () => {
    const output = new PassThrough();
    const reader = new OutputReader(output);
    const reading = reader.next();
    output.write(chunk);
    expect(await reading).toEqual([chunk]);
  });

  it('gathers chunks that arrive together', async () => {
    const output = new PassThrough();
    const reader = new OutputReader(output);
    const reading = reader.next(batchBytes);
    for (let written = 0; written < batchBytes; written += chunk.length) {
      output.write(chunk);
      await Promise.resolve();
    }
    expect(bytesOf(await reading)).toBe(batchBytes);
  });

  it('returns a small batch if nothing more arrives', async () => {
    const output = new PassThrough();
    const reader = new OutputReader(output);
    const reading = reader.next(batchBytes);
    output.write(chunk);
    expect(await reading).toEqual([chunk]);
  });

  it('returns every byte in order, then null', async () => {
    const output = new PassThrough();
    const reader = new OutputReader(output);
    const parts = Array.from({ length: 50 }, (_, index) => Buffer.alloc(1000 * index + 1, index));
    for (const part of parts) output.write(part);
    output.end();
    const received: Buffer[] = [];
    for (let batch = await reader.next(batchBytes); batch !== null; batch = await reader.next(batchBytes))
      received.push(...batch);
    expect(Buffer.concat(received).equals(Buffer.concat(parts))).toBe(true);
    expect(await reader.next(batchBytes)).toBeNull();
  });

  it('stops reading while nobody takes the chunks', async () => {
    const output = new PassThrough();
    const reader = new OutputReader(output);
    let written = 0;
    while (output.write(chunk)) {
      written += chunk.length;
      expect(written).toBeLessThan(1024 * 1024);
      await delay(1);
    }
    expect(output.isPaused()).toBe(true);
    expect(bytesOf(await reader.next())).toBeGreaterThan(0);
    expect(output.isPaused()).toBe(false);
  });

  it('throws if the output is closed before its end', async () => {
    const output = new PassThrough();
    const reader = new OutputReader(output);
    const reading = reader.next(batchBytes);
    output.destroy();
    await expect(reading).rejects.toThrow('closed before its end');
  });
});
