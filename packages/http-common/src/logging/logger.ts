import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

interface LoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  /** Stdout unless given. */
  readonly destination?: DestinationStream | undefined;
}

/** JSON lines, each with the service's name. */
export function createLogger({ service, level, destination = pino.destination(1) }: LoggerOptions): Logger {
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
