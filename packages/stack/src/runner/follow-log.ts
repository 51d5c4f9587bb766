import { closeSync, openSync, readSync } from 'node:fs';

const pollMs = 200;

/**
 * Hands on the lines that a program writes to its log file. The programs write to
 * files and not to pipes: nginx cannot open a pipe of Node as its access log.
 * @returns takes what is left and stops
 */
export function followLog(file: string, onLine: (line: string) => void): () => void {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(64 * 1024);
  const decoder = new TextDecoder();
  let rest = '';
  const take = () => {
    for (;;) {
      const length = readSync(descriptor, buffer);
      if (length === 0) return;
      const lines = (rest + decoder.decode(buffer.subarray(0, length), { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    }
  };
  const timer = setInterval(take, pollMs);
  return () => {
    clearInterval(timer);
    take();
    if (rest !== '') onLine(rest);
    closeSync(descriptor);
  };
}
