import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DomainError } from '../errors/domain-error.js';
import { closeAfterDelivery, hasLongBody, isClosing, onDelivered } from '../http/delivery.js';
import { noteBreak } from '../http/request-context.js';
import { resetSocket } from '../http/reset-connection.js';

interface Connection {
  /** Not yet delivered. */
  readonly responses: Set<ServerResponse>;
  /** How much had arrived when the last response ended. */
  bytesReadBefore: number;
  /** The end of the last response may still be on its way. */
  hasLongTail: boolean;
}

/** The open connections of a server. */
export class Connections {
  readonly #connections = new Map<Socket, Connection>();
  #isDraining = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      closeAfterDelivery(socket);
      this.#connections.set(socket, { responses: new Set(), bytesReadBefore: 0, hasLongTail: false });
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  add(response: ServerResponse): void {
    const { socket } = response.req;
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.responses.add(response);
    onDelivered(response, () => {
      connection.responses.delete(response);
      connection.bytesReadBefore = socket.bytesRead;
      connection.hasLongTail = hasLongBody(response);
      if (this.#isDraining) closeIfIdle(socket, connection);
    });
  }

  /** The response in progress on a connection. */
  responseOn(socket: Duplex): ServerResponse | undefined {
    const responses = this.#connections.get(socket as Socket)?.responses ?? [];
    return [...responses].find((response) => response.socket === socket);
  }

  /** Closes idle connections, and each of the others once its response has ended. */
  drain(): void {
    this.#isDraining = true;
    this.#connections.forEach((connection, socket) => closeIfIdle(socket, connection));
  }

  /** Breaks off what is left, so that no client takes a partial response for a complete one. */
  resetAll(): void {
    for (const [socket, { responses }] of this.#connections) {
      responses.forEach((response) => noteBreak(response, stopped()));
      // A reset, because a plain close would look like a complete response to an HTTP/1.0 client.
      resetSocket(socket);
    }
  }
}

/** Idle: no response in progress, and not a byte of another request. */
function closeIfIdle(socket: Socket, { responses, bytesReadBefore, hasLongTail }: Connection): void {
  if (responses.size > 0 || isClosing(socket) || socket.bytesRead !== bytesReadBefore) return;
  if (hasLongTail) socket.destroySoon();
  else socket.destroy();
}

function stopped(): DomainError {
  return new DomainError('engine_unavailable', 'The service stopped before the response was complete.');
}
