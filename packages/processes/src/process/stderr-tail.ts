import type { Readable } from 'node:stream';
import type { Logger } from '@media-services/http-common';

const tailLength = 2000;

/** Reads an engine's stderr to its end, logs it at debug level and keeps its last characters for the crash report. */
export function keepStderrTail(stderr: Readable | null, logger: Logger): () => string {
  let tail = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailLength);
    logger.debug({ stderr: text.slice(-tailLength) }, 'engine stderr');
  });
  return () => tail.trim();
}
