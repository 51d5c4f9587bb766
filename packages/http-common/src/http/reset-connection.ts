import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Ends the connection of a response so that no client can take what it has for a whole answer. */
export function resetConnection(response: ServerResponse): void {
  if (response.socket === null || response.socket.destroyed) response.destroy();
  else resetSocket(response.socket);
}

/** Breaks a connection off: its peer sees a reset, unless it has been sent everything and the end already. */
export function resetSocket(socket: Socket): void {
  // While the end is on its way, Node fails to reset, and neither closes the socket nor ever exits by itself.
  if (socket.writableEnded && socket.writableLength === 0) socket.destroy();
  else socket.resetAndDestroy();
}
