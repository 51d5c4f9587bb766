import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Aborts a response's connection so that no client mistakes a partial response for a complete one. */
export function resetConnection(response: ServerResponse): void {
  if (response.socket === null || response.socket.destroyed) response.destroy();
  else resetSocket(response.socket);
}

/** Aborts a connection. The peer sees a reset, unless all data and the FIN were already sent. */
export function resetSocket(socket: Socket): void {
  // After the FIN is sent, `resetAndDestroy` fails in Node: it leaves the socket open and keeps
  // the process alive.
  if (socket.writableEnded && socket.writableLength === 0) socket.destroy();
  else socket.resetAndDestroy();
}
