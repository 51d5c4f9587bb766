import { createLogger } from '@media-services/http-common';
import { ParserPool, type ParserPoolOptions } from '../../dist/parsing/parser-pool.js';

/** Parser processes of a test's own. */
export function startParsers(options: Partial<ParserPoolOptions> = {}): ParserPool {
  const pool = new ParserPool({ logger: createLogger({ service: 'test', level: 'silent' }), ...options });
  // It may be disposed before it is ready.
  pool.start().catch(() => undefined);
  return pool;
}
