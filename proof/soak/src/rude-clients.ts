import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { SoakContext } from './context.js';
import { begin, exchange, newClient, type Upload } from './exchange.js';
import { imagePath } from './image-load.js';
import { streamPath } from './video-load.js';

let counter = 0;

/** The actions of a rude client, in sequence. */
export type RudeClient = (context: SoakContext) => Promise<void>;

const upTo = (milliseconds: number) => Math.floor(Math.random() * milliseconds);

/** Abandons a stream: before its page has responded, before its first byte, or in the middle. */
export const leaves: RudeClient = async ({ gatewayUrl, site, ledger }) => {
  counter += 1;
  const page = ['/hangs?', '/watch?media=long.mkv&slow=300000&', '/watch?media=long.mp4&slow=300000&'][
    counter % 3
  ];
  const target = counter % 2 === 0 ? 'mp3' : 'mp4';
  const leaving = AbortSignal.timeout(300 + upTo(4000));
  const { isWhole } = await exchange({
    url: gatewayUrl + streamPath(site, target, `${page ?? ''}leaves=${counter}`),
    client: newClient(),
    signal: leaving,
  });
  ledger.count('leaves a stream', isWhole ? 'was answered before' : 'left');
};

/** Reads slowly, and leaves after a while or at the end. */
export const readsSlowly: RudeClient = async ({ gatewayUrl, site, ledger, signal }) => {
  counter += 1;
  const file = counter % 2 === 0 ? 'long.mkv' : 'long.mp4';
  const { isWhole } = await exchange({
    url: gatewayUrl + streamPath(site, 'mp4', `/watch?media=${file}&slowReader=${counter}`),
    client: newClient(),
    bytesPerSecond: 200_000,
    signal: AbortSignal.any([signal, AbortSignal.timeout(5000 + upTo(40_000))]),
  });
  ledger.count('reads slowly', isWhole ? 'had all' : 'left');
};

/** Sends a request, reads only the headers, and stays connected for a while. */
export const readsNothing =
  (picture: Upload): RudeClient =>
  async ({ gatewayUrl, site, ledger, signal }) => {
    counter += 1;
    const isImage = counter % 2 === 0;
    const path = isImage ? imagePath : streamPath(site, 'mp4', `/watch?media=long.mkv&reader=${counter}`);
    const upload = isImage ? picture : undefined;
    const response = await begin({ url: gatewayUrl + path, client: newClient(), upload }).catch(
      () => undefined,
    );
    response?.on('error', () => undefined);
    await delay(5000 + upTo(15_000), undefined, { signal }).catch(() => undefined); // the load ends
    response?.destroy();
    ledger.count('reads nothing', 'left');
  };

/** Sends part of an image and leaves, or sends it so slowly that it is disconnected. */
export const abortsUpload =
  ({ body, contentType }: Upload): RudeClient =>
  async ({ gatewayUrl, ledger, signal }) => {
    counter += 1;
    const isSlow = counter % 4 === 0;
    const sent = request(gatewayUrl + imagePath, {
      agent: false,
      method: 'POST',
      headers: {
        'x-forwarded-for': newClient(),
        'content-type': contentType,
        'content-length': body.length,
      },
    });
    const ended = new Promise<string>((resolve) => {
      sent.on('response', (response) => {
        response.resume();
        resolve(`${response.statusCode}`);
      });
      sent.on('close', () => resolve('cut'));
      sent.on('error', () => resolve('cut'));
    });
    if (isSlow) {
      let at = 0;
      const timer = setInterval(() => sent.write(body.subarray(at, (at += 500))), 500);
      const patience = delay(20_000, 'left', { signal }).catch(() => 'left');
      const outcome = await Promise.race([ended, patience]);
      clearInterval(timer);
      ledger.count('uploads slowly', outcome);
    } else {
      sent.write(body.subarray(0, Math.floor(Math.random() * body.length)));
      await delay(upTo(500));
      ledger.count('aborts an upload', 'left');
    }
    sent.destroy();
  };

/** Sends a request's headers or its body byte by byte, on many connections of one client. */
export const dripsRequest: RudeClient = async ({ gatewayUrl, ledger, signal }) => {
  counter += 1;
  const { hostname, port } = new URL(gatewayUrl);
  const start =
    counter % 2 === 0
      ? `GET / HTTP/1.1\r\nX-Forwarded-For: ${newClient()}\r\nHost: x\r\nContent-Length: 16000\r\n\r\n`
      : `GET /api/info?url=x HTTP/1.1\r\nX-Forwarded-For: ${newClient()}\r\nHost: x\r\nX-Drip: `;
  const sockets = Array.from({ length: 70 }, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(start);
    return socket;
  });
  const timer = setInterval(() => sockets.forEach((socket) => socket.write('x')), 1000);
  await delay(15_000, undefined, { signal }).catch(() => undefined); // the load ends
  clearInterval(timer);
  for (const socket of sockets) socket.destroy();
  ledger.count('drips 70 requests', 'left');
};

/** Waits until an image is being processed, then leaves. */
export const leavesImage =
  (picture: Upload): RudeClient =>
  async ({ gatewayUrl, ledger }) => {
    const { isWhole } = await exchange({
      url: gatewayUrl + imagePath,
      client: newClient(),
      upload: picture,
      signal: AbortSignal.timeout(50 + upTo(1500)),
    });
    ledger.count('leaves an image', isWhole ? 'was answered before' : 'left');
  };
