import { execFileSync } from 'node:child_process';
import { createLogger, DomainError } from '@media-services/http-common';
import fc from 'fast-check';
import sharp from 'sharp';
import { countJpegScans, imageLimits } from '../../src/images/image-limits.js';
import { defaultOutput } from '../../src/images/output.js';
import { isImageFault } from '../../src/images/sharp.js';
import { PixelPool, type PixelPoolOptions } from '../../src/pixels/pixel-pool.js';
import { blackPng, manyScansJpeg } from '../support/unusual-files.js';
import { picture } from '../support/pictures.js';

const inputSize = { width: 64, height: 64 };
const limits = imageLimits(50_000_000);
/** Removes the header check, so that everything is decoded. */
const unlimited = { maxPixels: 1e12, maxSide: 1e12, maxScans: 1e12, maxScannedPixels: 1e18 };
const tuning = { threshold: 12, feather: 2, foregroundStrength: 1 };
const never = new AbortController().signal;
const mebibyte = 1024 ** 2;
/** A mask that is all subject. */
const allOfIt = () => Promise.resolve({ mask: new Float32Array(4).fill(1), width: 2, height: 2 });
/** Fails if an image gets as far as the network. */
const noMask = () => Promise.reject(new Error('reached the network'));

let running: PixelPool;
beforeAll(async () => {
  running = await startPool();
});
afterAll(() => running[Symbol.asyncDispose]());

async function startPool({ processes = 1, ...memory }: Partial<PixelPoolOptions> = {}): Promise<PixelPool> {
  const pool = new PixelPool({
    processes,
    maxQueue: 10,
    taskTimeoutMs: 240_000,
    processBytes: 400 * mebibyte,
    budgetBytes: 1600 * mebibyte,
    warmUpRounds: 0,
    ...memory,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  await pool.start();
  return pool;
}

const good = async () => ({
  file: await picture().png().toBuffer(),
  limits,
  inputSize,
  tuning,
  output: defaultOutput,
});

let endless: Promise<Buffer> | undefined;
/** A small file that takes long to decode. */
const endlessJpeg = () => (endless ??= manyScansJpeg(2000, 14_000));

describe('rejected by the header, before anything is decoded', () => {
  const deadly: Record<string, [() => Buffer | Promise<Buffer>, object]> = {
    'a progressive JPEG of 14 000 scans': [
      endlessJpeg,
      { code: 'too_many_scans', scans: 14_010, maxScans: 100 },
    ],
    'a large JPEG with more scans than its size allows': [
      () => manyScansJpeg(3400, 80),
      { code: 'too_many_scans', scans: 90, maxScans: 86 },
    ],
    'a PNG of 49 000 000 × 1': [
      () => blackPng(49_000_000, 1),
      { code: 'image_too_large', width: 49_000_000, height: 1 },
    ],
    'a PNG of 1 × 49 000 000': [
      () => blackPng(1, 49_000_000),
      { code: 'image_too_large', width: 1, height: 49_000_000 },
    ],
  };
  for (const [name, [make, rejection]] of Object.entries(deadly)) {
    test(name, async () => {
      const [pid] = running.pids();
      const result = await running.run(
        { file: await make(), limits, inputSize, tuning, output: defaultOutput },
        noMask,
        never,
      );
      expect(result).toEqual({ kind: 'rejected', rejection });
      expect(running.pids()).toEqual([pid]);
    });
  }
});

test('an image that needs more memory than there is for one is rejected by its header', async () => {
  const task = {
    file: blackPng(12_000, 12_000),
    limits: unlimited,
    inputSize,
    tuning,
  };
  const result = await running.run({ ...task, output: { ...defaultOutput, format: 'webp' } }, noMask, never);
  expect(result).toMatchObject({ kind: 'rejected', rejection: { code: 'needs_too_much_memory' } });
});

test('images wait for each other if they do not fit together, and others do not', async () => {
  await using pool = await startPool({
    processes: 2,
    processBytes: 300 * mebibyte,
    budgetBytes: 100 * mebibyte,
  });
  pool.warmUp();
  const large = { ...(await good()), file: blackPng(2000, 2000) };
  let [now, most] = [0, 0];
  const both = (meanwhile: () => Promise<unknown>) => {
    const counted = async () => {
      most = Math.max(most, ++now);
      await meanwhile();
      now--;
      return allOfIt();
    };
    return Promise.all([1, 2].map(() => pool.run(large, counted, never)));
  };
  await both(() => new Promise((resolve) => setTimeout(resolve, 200)));
  expect(most).toBe(1);
  large.file = await picture().png().toBuffer();
  await both(() => vi.waitFor(() => expect(most).toBe(2), { timeout: 60_000 }));
});

describe('without the header check', () => {
  test('a cancelled image leaves no work behind: its process ends and the next image works', async () => {
    const file = await manyScansJpeg(2000, 200_000);
    const [pid = 0] = running.pids();
    const deadline = new AbortController();
    const decoding = running.run(
      { file, limits: unlimited, inputSize, tuning, output: defaultOutput },
      noMask,
      deadline.signal,
    );
    const waiting = running.run(await good(), allOfIt, never);
    const cpuSeconds = () =>
      Number(execFileSync('ps', ['-o', 'times=', '-p', String(pid)], { encoding: 'utf8' }));
    const before = cpuSeconds();
    // While it only waits for memory, a cancelled image needs no process to end. The rest of a warm-up takes less.
    await vi.waitFor(() => expect(cpuSeconds() - before).toBeGreaterThanOrEqual(2), { timeout: 120_000 });
    deadline.abort(new DomainError('timeout', 'Too long.'));
    await expect(decoding).rejects.toThrow('Too long.');
    expect((await waiting).kind).toBe('cut-out');
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 120_000 });
  });

  test('an image that takes more memory than estimated ends its own process, for good', async () => {
    // The estimate is the first safeguard; this removes it.
    await using limited = await startPool({ memoryTolerance: 0.6 });
    const [pid = 0] = limited.pids();
    const task = {
      file: blackPng(6000, 6000),
      limits: unlimited,
      inputSize,
      tuning,
    };
    await expect(limited.run({ ...task, output: defaultOutput }, allOfIt, never)).rejects.toMatchObject({
      code: 'image_too_large',
      name: 'MemoryExcessError',
    });
    expect(
      (await limited.run({ ...(await good()), output: { ...defaultOutput } }, allOfIt, never)).kind,
    ).toBe('cut-out');
    expect(limited.pids()).not.toContain(pid);
  });

  test('an image may take what its process may keep of earlier ones', async () => {
    await using pool = await startPool({ memoryTolerance: 0.3, processBytes: 3000 * mebibyte });
    const file = blackPng(6000, 6000);
    const task = { file, limits: unlimited, inputSize, tuning, output: defaultOutput };

    expect((await pool.run(task, allOfIt, never)).kind).toBe('cut-out');
  });

  test('a process killed during a task fails only that image, as a service failure', async () => {
    const file = await endlessJpeg();
    const [pid = 0] = running.pids();
    const decoding = running.run(
      { file, limits: unlimited, inputSize, tuning, output: defaultOutput },
      noMask,
      never,
    );
    process.kill(pid, 'SIGKILL');
    await expect(decoding).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect((await running.run(await good(), allOfIt, never)).kind).toBe('cut-out');
  });
});

test('a task whose request was aborted leaves the queue without being processed', async () => {
  const gone = new AbortController();
  // Made first: on a busy machine, the running task could end meanwhile.
  const task = await good();
  const first = running.run(await good(), allOfIt, never);
  const waiting = Array.from({ length: 5 }, () => running.run(task, allOfIt, gone.signal));
  expect(running.health()['queueLength']).toBe(5);
  gone.abort(new Error('gone'));
  for (const promise of waiting) await expect(promise).rejects.toThrow('gone');
  expect(running.health()['queueLength']).toBe(0);
  expect((await first).kind).toBe('cut-out');
});

test('an image without a mask fails with the reason, and its process handles the next one', async () => {
  const pids = running.pids();
  await expect(running.run(await good(), noMask, never)).rejects.toThrow('reached the network');
  expect((await running.run(await good(), allOfIt, never)).kind).toBe('cut-out');
  expect(running.pids()).toEqual(pids);
});

test('an image cancelled during inference frees its process at once', async () => {
  const pids = running.pids();
  const gone = new AbortController();
  const giveUp = () => {
    gone.abort(new Error('gone'));
    return new Promise<never>(() => undefined);
  };
  await expect(running.run(await good(), giveUp, gone.signal)).rejects.toThrow('gone');
  expect((await running.run(await good(), allOfIt, never)).kind).toBe('cut-out');
  expect(running.pids()).toEqual(pids);
});

describe('classifying errors of sharp', () => {
  test.each([
    'VipsJpeg: premature end of JPEG image',
    'vipspng: libpng read error',
    'vipspng: libpng read error\nvips2png: unable to write to target target',
    'webp2vips: unable to read pixels',
    'Input buffer contains unsupported image format',
    'Input buffer has corrupt header: webp: unable to parse image',
    'Unknown error',
  ])('the image: %s', (message) => {
    expect(isImageFault(new Error(message))).toBe(true);
  });

  test.each([
    'vips_image_write_to_memory: out of memory -- size == 188MB',
    'VipsJpeg: out of memory',
    'std::bad_alloc',
    'Cannot read properties of undefined',
    'VipsOperation: class "resize" not found',
  ])('the service: %s', (message) => {
    expect(isImageFault(new Error(message))).toBe(false);
  });
});

const jpeg = (progressive: boolean) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: '#335577' } })
    .jpeg({ progressive })
    .toBuffer();

test('a baseline JPEG has one scan, a progressive one ten, and additional ones are counted', async () => {
  expect(countJpegScans(await jpeg(false))).toBe(1);
  expect(countJpegScans(await jpeg(true))).toBe(10);
  expect(countJpegScans(await manyScansJpeg(64, 500))).toBe(510);
});

test('a scan inside a segment (a thumbnail in EXIF) is not counted', async () => {
  const plain = await jpeg(false);
  const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0, 10]), Buffer.from('ffda0008ffd8ffda', 'hex')]);
  expect(countJpegScans(Buffer.concat([plain.subarray(0, 2), segment, plain.subarray(2)]))).toBe(1);
});

test('counting terminates for any bytes, and never exceeds the scans that fit', () => {
  const markers = fc.constantFrom(0xff, 0xda, 0x00, 0xd9, 0xd0, 0xc4);
  const bytes = fc.array(fc.oneof(fc.integer({ min: 0, max: 255 }), markers), { maxLength: 2000 });
  fc.assert(
    fc.property(bytes, (data) => {
      const scans = countJpegScans(Uint8Array.from(data));
      expect(scans).toBeGreaterThanOrEqual(0);
      expect(scans).toBeLessThanOrEqual(data.length / 2);
    }),
  );
});
