/** The part of a pino logger that the network modules use. */
export interface NetworkLogger {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
