import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import { picture } from '../support/pictures.js';
import {
  fakeInference,
  healthUntil,
  postImage,
  problemOf,
  startWarmService,
  type TestService,
} from '../support/service.js';

/** A few greedy IP addresses, and another client that must still be served. */
let running: TestService;
let file: Buffer;
beforeAll(async () => {
  file = await picture().png().toBuffer();
});
const sockets: net.Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Starts a service for the tests of a group. */
function withService(env: Record<string, string>, { paceWindowMs } = { paceWindowMs: 1000 }): void {
  beforeAll(async () => {
    const overrides = { ...fakeInference('slow'), paceWindowMs };
    running = await startWarmService({ TRUST_PROXY_HOPS: '1', ...env }, overrides);
  });
  afterAll(() => running.stop());
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

/** Starts an upload and then stalls. */
function stalledUpload(address: string, bytes = 100_000): http.ClientRequest {
  const request = http.request(running.endpoint, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': String(bytes),
      'x-forwarded-for': address,
    },
  });
  request.on('error', () => undefined);
  request.on('socket', (socket) => sockets.push(socket));
  request.write('--x\r\n');
  return request;
}

interface UnreadResponse {
  /** Reads the rest. Resolves when the connection has ended, with whether the response was complete. */
  readonly wasWhole: () => Promise<boolean>;
}

/** Resolves when the service has counted a truncated response. */
async function interruptedResponse(): Promise<void> {
  const counted = /media_http_outcomes_total\{[^}]*outcome="truncated"[^}]*\} [1-9]/;
  while (!counted.test(await (await fetch(`${running.metricsUrl}/metrics`)).text())) await delay(100);
}

/** Sends another client's image, retrying while all slots are in use. Returns the status. */
async function statusWhenFree(): Promise<number> {
  for (;;) {
    const { status } = await postImage(running, file, from('198.51.100.7'));
    if (status !== 503) return status;
  }
}

/** Sends an image without reading the response. */
async function unreadResponse(image: Buffer, address: string): Promise<UnreadResponse> {
  const { hostname, port } = new URL(running.url);
  const socket = net.connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.pause();
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n';
  const end = '\r\n--x--\r\n';
  socket.write(
    [
      'POST /api/remove-background HTTP/1.1',
      'Host: test',
      `X-Forwarded-For: ${address}`,
      'Content-Type: multipart/form-data; boundary=x',
      `Content-Length: ${head.length + image.length + end.length}`,
      '',
      head,
    ].join('\r\n'),
  );
  socket.write(image);
  socket.write(end);
  await once(socket, 'connect');
  return {
    wasWhole: async () => {
      const parts: Buffer[] = [];
      socket.on('data', (part: Buffer) => parts.push(part));
      socket.resume();
      await closed;
      const [answered = '', ...body] = Buffer.concat(parts).toString('latin1').split('\r\n\r\n');
      const announced = Number(/content-length: (\d+)/i.exec(answered)?.[1] ?? Infinity);
      return body.join('\r\n\r\n').length === announced;
    },
  };
}

async function statusOf(request: http.ClientRequest): Promise<number | undefined> {
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  return response.statusCode;
}

const noise = (width: number, height: number) =>
  sharp({
    create: {
      ...{ width, height, channels: 3, background: '#888' },
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  });

describe('without a queue', () => {
  withService({ IMAGE_QUEUE_MAX: '0' });

  test('slow uploads block nobody and are aborted', async () => {
    const slow = Array.from({ length: 9 }, (_, i) => statusOf(stalledUpload(`203.0.113.${i % 2}`)));
    for (const request of ['first', 'second']) {
      expect([request, (await postImage(running, file, from('198.51.100.7'))).status]).toEqual([
        request,
        200,
      ]);
    }
    expect(await Promise.all(slow)).toEqual(Array<number>(9).fill(504));
  });

  test('an unread result blocks nobody and is aborted', async () => {
    // Its result of 10 MB is larger than the connection's buffers, so that it can't be sent completely.
    const large = await noise(2000, 1600).jpeg({ quality: 60 }).toBuffer();
    const reader = await unreadResponse(large, '203.0.113.1');
    await healthUntil(running, ({ body }) => body.checks['engine']?.['active'] === 1);
    expect(await statusWhenFree()).toBe(200);
    expect((await postImage(running, file, from('198.51.100.7'))).status).toBe(200);
    await interruptedResponse();
    expect(await reader.wasWhole()).toBe(false);
  });
});

describe('while slow uploads need all memory', () => {
  withService({ IMAGE_QUEUE_MAX: '0', IMAGE_MAX_BYTES: '300000' }, { paceWindowMs: 600_000 });

  test('the memory of slow uploads is reclaimed from the client that holds the most', async () => {
    const greedy = statusOf(stalledUpload('203.0.113.1', 300_000));
    let status: number | undefined;
    void greedy.then((answered) => (status = answered));
    // The first attempt may arrive before the slow one.
    while (status === undefined) {
      expect((await postImage(running, file, from('198.51.100.7'))).status).toBe(200);
    }
    expect(status).toBe(503);
  });
});

describe('with six images per minute', () => {
  withService({ IMAGE_QUEUE_MAX: '11', IMAGES_PER_MINUTE: '6' });

  test('an image that turns out damaged while decoding counts towards the limit', async () => {
    const whole = await noise(320, 240).png().toBuffer();
    const cut = whole.subarray(0, Math.round(whole.length * 0.95));
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await postImage(running, cut, from('203.0.113.2'))).status);
    expect(statuses).toEqual([...Array<number>(6).fill(422), 429]);
  });

  test('a client that sends many images waits behind its own: a new client is served before the rest', async () => {
    const done: string[] = [];
    const send = async (name: string, address: string) => {
      const { status } = await postImage(running, file, from(address));
      done.push(name);
      return status;
    };
    const greedy = Array.from({ length: 6 }, (_, i) => send(`greedy ${i}`, '203.0.113.1'));
    await new Promise((resolve) => setImmediate(resolve));
    const newcomer = send('newcomer', '198.51.100.7');
    expect(await newcomer).toBe(200);
    expect(done.length).toBeLessThanOrEqual(4);
    expect(await Promise.all(greedy)).toEqual(Array<number>(6).fill(200));
  });
});

describe('with a short queue', () => {
  withService({ IMAGE_QUEUE_MAX: '3' });

  test('a client that has its full share is rejected, and others are not', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => postImage(running, file, from('203.0.113.1'))),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const response of refused) {
      expect(response.get('retry-after')).toMatch(/^\d+$/);
      expect(problemOf(response)).toMatchObject({ status: 429, code: 'rate_limited' });
    }
  });
});

describe('while clients send images of 49 megapixels', () => {
  withService({ IMAGE_QUEUE_MAX: '11', IMAGE_MAX_PIXELS: '50000000' });

  test('one process stays free for the ordinary image of another client', async () => {
    const large = await sharp(file).resize(7000, 7000, { kernel: 'nearest', fit: 'fill' }).png().toBuffer();
    const done: string[] = [];
    const send = async (name: string, image: Buffer, address: string) => {
      const { status } = await postImage(running, image, from(address));
      done.push(name);
      return status;
    };
    const clients = [1, 2, 3].map((each) => `203.0.113.${each}`);
    const greedy = clients.map((address) => send(address, large, address));
    await healthUntil(running, ({ body }) => Number(body.checks['pixels']?.['active']) > 0);
    expect(await send('ordinary', file, '198.51.100.7')).toBe(200);
    expect(done).toEqual(['ordinary']);
    expect(await Promise.all(greedy)).toEqual(clients.map(() => 200));
  });
});
