import { DomainError } from '@media-services/http-common';
import type { RequestHandler } from 'express';

/** Room for multipart boundaries, headers and the other fields, in addition to the file. */
export const multipartOverheadBytes = 64 * 1024;

/** How much of a rejected body we still read, and for how long, so that the client receives the response. */
const lingerBytes = 4 * 1024 * 1024;
const lingerMs = 5000;

export function fileTooLarge(maxFileBytes: number): DomainError {
  return new DomainError(
    'file_too_large',
    `The file has more than ${maxFileBytes} bytes (${(maxFileBytes / 1024 ** 2).toFixed(1)} MiB). Send a smaller one.`,
  );
}

/** Responds with 413 based on `Content-Length`, before reading the body. */
export function rejectLargeBody(maxFileBytes: number): RequestHandler {
  return (req, _res, next) => {
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > maxFileBytes + multipartOverheadBytes) throw fileTooLarge(maxFileBytes);
    next();
  };
}

/**
 * After an early response, the client may still be sending. Closing the connection at once can
 * lose the response (RFC 9112 §9.6), and reading without a limit would waste resources. So we
 * read up to a limit, then close the connection.
 */
export function lingerAfterEarlyResponse(): RequestHandler {
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

export interface MinRate {
  /** A lower rate over a whole window is too slow; 0 for no limit. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/**
 * Runs `transfer` and aborts it if it is too slow. Otherwise a client that sends or reads
 * almost nothing would hold its slot until the deadline.
 * @param passed returns the bytes transferred so far; never decreases
 * @throws DomainError `timeout`, or the result of `tooSlowError`, if a window is below the
 *   minimum rate
 * @throws the errors of `transfer`
 */
export async function withMinRate<T>(
  { bytesPerSecond, windowMs }: MinRate,
  passed: () => number,
  signal: AbortSignal,
  transfer: (signal: AbortSignal) => Promise<T>,
  tooSlowError: () => DomainError = () => tooSlowClient(bytesPerSecond),
): Promise<T> {
  if (bytesPerSecond === 0) return transfer(signal);
  const tooSlow = new AbortController();
  let before = passed();
  const timer = setInterval(() => {
    const now = passed();
    if (now - before < (bytesPerSecond * windowMs) / 1000) tooSlow.abort(tooSlowError());
    before = now;
  }, windowMs);
  try {
    return await transfer(AbortSignal.any([signal, tooSlow.signal]));
  } finally {
    clearInterval(timer);
  }
}

function tooSlowClient(bytesPerSecond: number): DomainError {
  return new DomainError(
    'timeout',
    `The connection transferred less than ${Math.ceil(bytesPerSecond)} bytes per second. Try again with a faster connection or a smaller image.`,
  );
}
