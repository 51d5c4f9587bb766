import { get } from 'node:http';

/** A client with a slow connection. */
export interface SlowClient {
  readonly received: number;
  readonly hasEnded: boolean;
  stop(): void;
}

/** Reads a stream at a given rate until stopped. */
export function slowClient(url: string, bytesPerSecond: number): SlowClient {
  let received = 0;
  let hasEnded = false;
  const end = () => (hasEnded = true);
  const request = get(url, { agent: false }, (response) => {
    const start = performance.now();
    response.on('data', (chunk: Buffer) => {
      received += chunk.length;
      const dueMs = (received / bytesPerSecond) * 1000 - (performance.now() - start);
      if (dueMs <= 0) return;
      response.pause();
      setTimeout(() => response.resume(), dueMs);
    });
    // `close` signals its end.
    response.on('error', () => undefined);
    response.on('close', end);
  });
  request.on('error', end);
  return {
    get received() {
      return received;
    },
    get hasEnded() {
      return hasEnded;
    },
    stop: () => request.destroy(),
  };
}
