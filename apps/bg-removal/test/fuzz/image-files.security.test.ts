import { createLogger } from '@media-services/http-common';
import fc from 'fast-check';
import sharp from 'sharp';
import { imageLimits } from '../../dist/images/image-limits.js';
import { defaultOutput } from '../../dist/images/output.js';
import { defaultTuning } from '../../dist/matte/tuning.js';
import { PixelPool } from '../../dist/pixels/pixel-pool.js';
import { fuzzRuns } from '../support/fuzz-runs.js';
import { colourPng, pngChunk } from '../support/unusual-files.js';

/**
 * Damaged image files: whatever is done to one, the answer is an image or that it
 * cannot be read, never a failure of the service, and the process stays.
 */
const limits = imageLimits(2_000_000);
const inputSize = { width: 32, height: 32 };
const never = new AbortController().signal;

const refusals = ['unreadable_header', 'damaged_pixels', 'image_too_large', 'too_many_scans'];

/** Takes everything for the subject, once the view is of the size that was asked for. */
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
    settings: { maxMemoryBytes: 1024 ** 3 },
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  await pool.start();
});
afterAll(async () => pool[Symbol.asyncDispose]());

const damage = fc.record({
  file: fc.nat({ max: 6 }),
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
      const result = await pool.run(
        { file: cut, limits, inputSize, tuning: defaultTuning, output: defaultOutput },
        maskOf,
        never,
      );
      if (result.kind === 'cut-out') expect(result.image.width * result.image.height).toBeGreaterThan(0);
      else expect(refusals).toContain(result.refusal.code);
    }),
    { numRuns: fuzzRuns(400), endOnFailure: true },
  );
  expect(pool.pids()).toEqual(pids);
});
