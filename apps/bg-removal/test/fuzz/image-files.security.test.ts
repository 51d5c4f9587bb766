import { createLogger } from '@media-services/http-common';
import fc from 'fast-check';
import sharp from 'sharp';
import { imageLimits } from '../../dist/images/image-limits.js';
import { PixelPool } from '../../dist/pixels/pixel-pool.js';
import { fuzzRuns } from '../support/fuzz-runs.js';

/**
 * Damaged image files: whatever is done to one, the answer is an image or that it
 * cannot be read, never a failure of the service, and the process stays.
 */
const limits = imageLimits(2_000_000);
const inputSize = { width: 32, height: 32 };
const never = new AbortController().signal;

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
  );
  pool = new PixelPool({
    processes: 1,
    maxQueue: 1,
    taskTimeoutMs: 20_000,
    settings: { maxMemoryBytes: 1024 ** 3 },
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  await pool.start();
});
afterAll(async () => pool[Symbol.asyncDispose]());

const damage = fc.record({
  file: fc.nat({ max: 5 }),
  /** Bytes that are set, most of them in the headers. */
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

test('of any damaged file there is an image or a refusal', async () => {
  const pids = pool.pids();
  await fc.assert(
    fc.asyncProperty(damage, async ({ file, changes, kept }) => {
      const bytes = Buffer.from(files[file] ?? []);
      // The first bytes say what it is: without them it is not looked at.
      for (const { place, value } of changes) bytes[12 + Math.floor(place * (bytes.length - 13))] = value;
      const cut = bytes.subarray(0, Math.max(16, Math.floor(kept * bytes.length)));
      const result = await pool.prepare({ file: cut, limits, inputSize }, never);
      if (result.kind === 'prepared') expect(result.rgb).toHaveLength(32 * 32 * 3);
      else expect(['unreadable_image', 'image_too_large', 'too_many_scans']).toContain(result.refusal.code);
    }),
    { numRuns: fuzzRuns(400), endOnFailure: true },
  );
  expect(pool.pids()).toEqual(pids);
});
