import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Aborts a response's connection so that no client mistakes a partial response for a complete one. */
export function resetConnection(response: ServerResponse): void {
  if (response.socket === null || response.socket.destroyed) response.destroy();
  else resetSocket(response.socket);
}

/** Aborts a connection. The peer sees a reset, unless the FIN is on its way at this very moment. */
export function resetSocket(socket: Socket): void {
  // While Node sends the FIN, `resetAndDestroy` fails: it leaves the socket open and keeps the
  // process alive.
  const isSendingFin = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished;
  if (isSendingFin) socket.destroy();
  else socket.resetAndDestroy();
}
