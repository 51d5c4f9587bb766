import { DomainError } from '@media-services/http-common';
import type { RequestHandler } from 'express';

/** What multipart borders, headers and the other fields may add to the file. */
export const multipartOverheadBytes = 64 * 1024;

/** How much of a refused body is still read, so that the client gets to see the answer, and for how long. */
const lingerBytes = 4 * 1024 * 1024;
const lingerMs = 5000;

export function fileTooLarge(maxFileBytes: number): DomainError {
  return new DomainError(
    'file_too_large',
    `The file has more than ${maxFileBytes} bytes (${(maxFileBytes / 1024 ** 2).toFixed(1)} MiB). Send a smaller one.`,
  );
}

/** Answers 413 from the announced length, before any of the body is read. */
export function refuseLargeBody(maxFileBytes: number): RequestHandler {
  return (req, _res, next) => {
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > maxFileBytes + multipartOverheadBytes) throw fileTooLarge(maxFileBytes);
    next();
  };
}

/**
 * After an early answer the client may go on sending. A connection that is cut
 * at once can lose the answer (RFC 9112 §9.6), one that is read for ever is a
 * free ride: the rest is read up to a bound, then the connection is closed.
 */
export function lingerAfterEarlyAnswer(): RequestHandler {
  return (req, res, next) => {
    res.once('finish', () => {
      if (req.complete) return;
      let received = 0;
      const close = (): void => {
        req.socket.destroy();
      };
      const timer = setTimeout(close, lingerMs);
      req.once('close', () => clearTimeout(timer));
      req.socket.once('close', () => clearTimeout(timer));
      req.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > lingerBytes) close();
      });
      req.once('end', () => clearTimeout(timer));
      req.resume();
    });
    next();
  };
}
