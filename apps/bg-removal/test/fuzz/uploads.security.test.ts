import net from 'node:net';
import { createLogger } from '@media-services/http-common';
import fc from 'fast-check';
import sharp from 'sharp';
import { isNight } from '../../../../proof/vitest/at-night.js';
import { imageLimits } from '../../src/images/image-limits.js';
import { defaultOutput } from '../../src/images/output.js';
import { defaultTuning } from '../../src/matte/tuning.js';
import { PixelPool } from '../../src/pixels/pixel-pool.js';
import { picture } from '../support/pictures.js';
import { fakeInference, postImage, startWarmService, type TestService } from '../support/service.js';
import { colourPng, pngChunk } from '../support/unusual-files.js';

/** Runs of a fuzz test: few in `npm test`, five times as many at night, `FUZZ_FACTOR` times as many in a long one. */
function fuzzRuns(few: number): number {
  return few * Number(process.env['FUZZ_FACTOR'] ?? (isNight ? '5' : '1'));
}

/**
 * Fuzzes request bodies: the response must be a 4xx problem or an image, and the service must
 * keep working.
 */
let service: TestService;
beforeAll(async () => {
  service = await startWarmService({ IMAGE_TIMEOUT_SECONDS: '20' }, fakeInference('slow'));
});
afterAll(() => service.stop());

/** Sends a raw body and returns the response's status and body. */
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

test('any body gives a client error, and the next image works', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), contentType, async (pieces, type) => {
      const { status, text } = await send(Buffer.from(pieces.join(''), 'latin1'), type);
      expect([400, 413, 415, 422]).toContain(status);
      expect(text).toContain('application/problem+json');
    }),
    { numRuns: fuzzRuns(60), endOnFailure: true },
  );
  expect((await postImage(service, await picture().png().toBuffer())).status).toBe(200);
});

/**
 * Fuzzes image files: damage of every kind must lead to an image or a rejection, never to a service
 * failure, and the process must survive.
 */
const limits = imageLimits(2_000_000);
const inputSize = { width: 32, height: 32 };
const never = new AbortController().signal;

const rejections = ['unreadable_header', 'damaged_pixels', 'image_too_large', 'too_many_scans'];

/** Checks the view's size and returns a mask that is all subject. */
const maskOf = ({ rgb }: { rgb: Uint8Array }) => {
  expect(rgb).toHaveLength(inputSize.width * inputSize.height * 3);
  return Promise.resolve({ mask: new Float32Array(4).fill(1), width: 2, height: 2 });
};

const noise = () =>
  sharp({
    create: {
      width: 90,
      height: 70,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });

let pool: PixelPool;
const files: Buffer[] = [];
beforeAll(async () => {
  files.push(
    await noise().jpeg().toBuffer(),
    await noise().withMetadata().jpeg({ progressive: true }).toBuffer(),
    await noise().png().toBuffer(),
    await noise().png({ palette: true }).toBuffer(),
    await noise().webp().toBuffer(),
    await noise().ensureAlpha(0.5).webp({ lossless: true }).toBuffer(),
    colourPng({
      depth: 16,
      colourType: 2,
      samples: [1, 2, 3],
      chunks: [pngChunk('gAMA', Buffer.of(0, 1, 0, 0)), pngChunk('cICP', Buffer.of(9, 16, 0, 1))],
    }),
  );
  pool = new PixelPool({
    processes: 1,
    maxQueue: 1,
    taskTimeoutMs: 20_000,
    processBytes: 400 * 1024 ** 2,
    budgetBytes: 600 * 1024 ** 2,
    warmUpRounds: 0,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  await pool.start();
});
afterAll(async () => pool[Symbol.asyncDispose]());

const damage = fc.record({
  file: fc.nat({ max: 6 }),
  /** Bytes to overwrite, most of them in the headers. */
  changes: fc.array(
    fc.record({
      place: fc.oneof(
        fc.double({ min: 0, max: 0.05, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
      ),
      value: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0x00, 0xff, 0xda, 0x7f, 0x80)),
    }),
    { maxLength: 8 },
  ),
  kept: fc.oneof(fc.constant(1), fc.double({ min: 0.02, max: 1, noNaN: true })),
});

test('any damaged file gives an image or a rejection', async () => {
  const pids = pool.pids();
  await fc.assert(
    fc.asyncProperty(damage, async ({ file, changes, kept }) => {
      const bytes = Buffer.from(files[file] ?? []);
      // The first bytes determine the type; without them the file is rejected early.
      for (const { place, value } of changes) bytes[12 + Math.floor(place * (bytes.length - 13))] = value;
      const cut = bytes.subarray(0, Math.max(16, Math.floor(kept * bytes.length)));
      const result = await pool.run(
        {
          file: cut,
          limits,
          inputSize,
          tuning: defaultTuning,
          output: defaultOutput,
        },
        maskOf,
        never,
      );
      if (result.kind === 'cut-out') expect(result.image.width * result.image.height).toBeGreaterThan(0);
      else expect(rejections).toContain(result.rejection.code);
    }),
    { numRuns: fuzzRuns(100), endOnFailure: true },
  );
  expect(pool.pids()).toEqual(pids);
});
