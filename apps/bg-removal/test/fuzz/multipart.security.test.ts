import net from 'node:net';
import fc from 'fast-check';
import { fakeInference } from '../support/fake-inference.js';
import { fuzzRuns } from '../support/fuzz-runs.js';
import { postImage, startWarmService, type TestService } from '../support/service.js';
import { picture } from '../support/pictures.js';

/** Bodies of strangers: whatever comes, the answer is a 4xx problem or an image, and the service goes on. */
let service: TestService;
beforeAll(async () => {
  service = await startWarmService({ IMAGE_TIMEOUT_SECONDS: '20' }, fakeInference('slow'));
});
afterAll(() => service.stop());

/** Sends a body as it is and gives the status and the body of the answer. */
async function send(body: Buffer, contentType: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(service.url);
  const socket = net.connect(Number(port), hostname);
  const head = [
    'POST /api/remove-background HTTP/1.1',
    'Host: test',
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('latin1');
  return { status: Number(text.slice(9, 12)), text };
}

const piece = fc.oneof(
  fc.constantFrom(
    '--x\r\n',
    '--x--\r\n',
    '--x--',
    '\r\n',
    '\n',
    '\r\n\r\n',
    'content-disposition: form-data; name="file"; filename="a.png"\r\n',
    'content-disposition: form-data; name="threshold"\r\n',
    "content-disposition: form-data; name*=utf-8''file; filename*=utf-8''%00%ff.png\r\n",
    'content-disposition: form-data; name="',
    'content-type: image/png; charset="',
    'content-transfer-encoding: base64\r\n',
    '12',
    ';',
    '\0',
    '"',
    '\\',
    '--',
  ),
  fc.string({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);
const contentType = fc.oneof(
  { weight: 5, arbitrary: fc.constant('multipart/form-data; boundary=x') },
  fc.constantFrom(
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="x',
    `multipart/form-data; boundary=${'y'.repeat(300)}`,
    'multipart/mixed; boundary=x',
    'application/x-www-form-urlencoded',
  ),
);

test('of any body there is a problem of the client, and the next image is done', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), contentType, async (pieces, type) => {
      const { status, text } = await send(Buffer.from(pieces.join(''), 'latin1'), type);
      expect([400, 413, 415, 422]).toContain(status);
      expect(text).toContain('application/problem+json');
    }),
    { numRuns: fuzzRuns(250), endOnFailure: true },
  );
  expect((await postImage(service, await picture().png().toBuffer())).status).toBe(200);
});
