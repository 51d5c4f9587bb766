import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ClientWriter } from '../../src/deliver/response.js';

/** A connection whose client takes each part after a delay on the test's clock. */
async function slowDownload(partBytes: number, secondsPerPart: number, parts: number): Promise<number> {
  const response = Object.assign(new EventEmitter(), { write: () => false });
  let slow = 0;
  const writer = new ClientWriter(response as unknown as ServerResponse, {
    signal: new AbortController().signal,
    limits: { clientIdleTimeoutMs: 120_000, minClientBytesPerMinute: 256 * 1024 },
    abort: () => (slow += 1),
  });
  for (let part = 0; part < parts; part += 1) {
    const written = writer.write(Buffer.alloc(partBytes));
    vi.advanceTimersByTime(secondsPerPart * 1000);
    response.emit('drain');
    await written;
  }
  return slow;
}

describe('a slow client', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('loses its stream when it reads below the minimum rate for a minute', async () => {
    expect(await slowDownload(16_384, 20, 4)).toBe(1);
  });

  it('keeps its stream at the minimum rate, and when waits are short', async () => {
    expect(await slowDownload(128 * 1024, 20, 10)).toBe(0);
    expect(await slowDownload(16_384, 0.01, 100)).toBe(0);
  });
});
