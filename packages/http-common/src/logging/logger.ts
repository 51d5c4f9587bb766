import { pino, type DestinationStream, type Logger } from 'pino';
import type { logLevels } from '../config/settings.js';

export type { Logger } from 'pino';

export type LogLevel = (typeof logLevels)[number];

interface LoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  /** Stdout unless given. */
  readonly destination?: DestinationStream | undefined;
}

/** JSON lines, each with the service's name. */
export function createLogger({ service, level, destination = stdout() }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

/** Stdout. While its disk is full, lines are lost, but the service keeps running and can be stopped. */
function stdout(): DestinationStream {
  const stream = pino.destination({ dest: 1, maxLength: 1024 * 1024 });
  stream.on('error', () => undefined);
  // Every line is written at once. At exit, this would repeat a failing write forever.
  stream.flushSync = () => undefined;
  return stream;
}
