import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * A body this long may still be in this machine's buffers long after Node has passed it on. The
 * first window of a TCP connection holds a shorter one (64 KiB on Linux).
 */
const longBodyBytes = 64 * 1024;
/** As long as the gateway waits for a client that stops reading. */
const closeTimeoutMs = 180_000;

const closing = new WeakSet<Socket>();

/**
 * Closes a connection after its last response as TCP allows to do without loss: it sends the FIN,
 * then waits until the client has closed its side, which a client does once it has read everything.
 * Node would forget the connection at once, and what the kernel hasn't sent by then is lost if the
 * container stops.
 */
export function closeAfterDelivery(socket: Socket): void {
  socket.destroySoon = () => {
    if (socket.destroyed || closing.has(socket)) return;
    closing.add(socket);
    socket.end();
    // Otherwise the end of what the client sends would go unnoticed.
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), closeTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** True if the connection has had its last response; whatever else arrives on it is ignored. */
export function isClosing(socket: Socket): boolean {
  return closing.has(socket);
}

/**
 * Calls `listener` once a response has ended: with true if the client has all of it, as far as that
 * can be known. A short one, or one on a connection that stays open, counts as delivered.
 */
export function onDelivered(response: ServerResponse, listener: (isDelivered: boolean) => void): void {
  const { socket } = response.req;
  response.once('close', () => {
    const isWatched = response.writableFinished && closing.has(socket) && hasLongBody(response);
    if (!isWatched) listener(response.writableFinished);
    else if (socket.destroyed) listener(socket.readableEnded);
    // A client that closes before it has read everything resets the connection instead.
    else socket.once('close', () => listener(socket.readableEnded));
  });
}

/** Whether the end of a response may be on its way after Node has passed it on. */
export function hasLongBody(response: ServerResponse): boolean {
  const { req, statusCode } = response;
  const length = response.getHeader('content-length');
  const hasBody = req.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
  return hasBody && (length === undefined || Number(length) > longBodyBytes);
}

/**
 * To be called before the headers are sent: makes a long response the last of its connection. Not
 * one without a length for a client of our own: the `fetch` of Node 20 takes such a response for
 * complete if a crash cuts it off. The gateway doesn't.
 */
export function closeAfterLongBody(
  response: ServerResponse,
  { isForGateway }: { isForGateway: boolean },
): void {
  const canBeCut = isForGateway || response.hasHeader('content-length');
  if (canBeCut && hasLongBody(response)) response.shouldKeepAlive = false;
}
