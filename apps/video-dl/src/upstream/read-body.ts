import type { Readable } from 'node:stream';
import { DomainError } from '@media-services/http-common';

/**
 * The chunks of a body, read only as fast as they are taken.
 * Leaving the loop early destroys the body.
 * @param idleTimeoutMs without a byte while one is waited for; the reader's own pauses do not count
 * @throws DomainError `upstream_timeout`, the body's error
 */
export async function* readBody(body: Readable, idleTimeoutMs: number): AsyncGenerator<Buffer, void, void> {
  let waitingSince = Number.POSITIVE_INFINITY;
  const watch = setInterval(
    () => {
      if (performance.now() - waitingSince < idleTimeoutMs) return;
      body.destroy(
        new DomainError('upstream_timeout', "The site's media server stopped sending. Try again later."),
      );
    },
    Math.min(idleTimeoutMs / 4, 1_000),
  );
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      waitingSince = performance.now();
      const next = await chunks.next();
      waitingSince = Number.POSITIVE_INFINITY;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    clearInterval(watch);
    body.destroy();
  }
}
