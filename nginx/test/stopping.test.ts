import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway, type TestGateway } from './support/gateway.js';

const mebibyte = 1024 * 1024;

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(5);
}

const isRunning = (gateway: TestGateway) => existsSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`);

/** A client that has asked for a stream and reads nothing before `resume`. */
async function slowClient(gateway: TestGateway): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.pause();
  await once(socket, 'connect');
  socket.write('GET /api/stream/video?url=x HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

/** nginx has been asked to quit and no longer listens. */
async function quit(gateway: TestGateway): Promise<void> {
  process.kill(gateway.pid, 'SIGQUIT');
  let isRefused = false;
  while (!isRefused) {
    const socket = connect(gateway.port, '127.0.0.1');
    isRefused = await new Promise((resolve) => {
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    });
    socket.destroy();
  }
}

test('a gateway that stops waits until a slow client has read the end of its stream', async () => {
  await using gateway = await startGateway();
  const streaming = new Promise<() => Promise<unknown>>((resolve) => {
    gateway.videoDl.respondWith((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': 2 * mebibyte });
      res.write(Buffer.alloc(mebibyte));
      resolve(() => {
        const nginxHasAll = once(res.socket as Socket, 'close');
        res.end(Buffer.alloc(mebibyte));
        return nginxHasAll;
      });
    });
  });
  const client = await slowClient(gateway);
  const sendRest = await streaming;
  await quit(gateway);
  await sendRest();
  expect(isRunning(gateway)).toBe(true);
  expect(gateway.accessLog()).toEqual([]);

  let bytes = 0;
  client.on('data', (chunk) => (bytes += chunk.length));
  client.resume();
  await once(client, 'end');
  expect(bytes).toBeGreaterThan(2 * mebibyte);
  await until(() => !isRunning(gateway));
});

test('a stream that lasts longer than the grace period is broken off', async () => {
  await using gateway = await startGateway({ env: { SHUTDOWN_GRACE_SECONDS: '1' } });
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'video/mp4' });
    res.write('first part');
  });
  const response = await fetch(`${gateway.url}/api/stream/video?url=x`);
  process.kill(gateway.pid, 'SIGQUIT');
  await expect(response.text()).rejects.toThrow();
  await until(() => !isRunning(gateway));
});
