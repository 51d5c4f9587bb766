import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { InvalidRequestError } from '../errors/domain-error.js';
import { sharedErrors } from '../errors/error-table.js';
import { problemMediaType, toProblem } from '../errors/problem.js';

/**
 * Answers what Node's parser refuses before there is a request (a broken request
 * line, more than 16 KiB of headers) as a problem; Node itself sends a bare status.
 * @param isAnswering whether an answer is under way on the connection, which may
 *   then only be cut: anything written would become part of that answer
 */
export function answerMalformedRequests(server: Server, isAnswering: (socket: Duplex) => boolean): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    socket.end(malformedAnswer(), () => socket.destroy());
  });
}

function malformedAnswer(): string {
  const requestId = randomUUID();
  const error = new InvalidRequestError(
    [{ field: 'request', message: 'is malformed or too long' }],
    'The request is malformed, or its URL or headers are too long. Check how the query is encoded.',
  );
  // Which host was asked for is not known, so the documentation's URL stays a path.
  const body = JSON.stringify(toProblem(error, { errors: sharedErrors, requestId, docsBaseUrl: '' }));
  return [
    'HTTP/1.1 400 Bad Request',
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Server-Timing: total;dur=0.0',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
