import { inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { writePng, type Raster } from '../../src/images/write-png.js';
import { visibleArea } from '../support/matte.js';

/** Runs, gradients and noise: differences of both signs, with and without a borrow. */
function raster(width: number, height: number, channels: 1 | 4): Raster {
  const data = new Uint8Array(width * height * channels);
  let state = 1;
  for (let at = 0; at < data.length; at++) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    data[at] = at % 97 < 40 ? 0 : at % 97 < 60 ? 255 - at : state >>> 16;
  }
  return { width, height, channels, data };
}

/** Chunks by type, read without the service's code. */
function chunks(png: Uint8Array): Map<string, Buffer> {
  const file = Buffer.from(png);
  const found = new Map<string, Buffer>();
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    found.set(file.toString('latin1', at + 4, at + 8), file.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return found;
}

describe('a PNG', () => {
  it.each([
    [1, 1, 4],
    [1, 1, 1],
    [3, 7, 1],
    [5, 8, 4],
    [1, 2000, 4],
    [65_535, 1, 1],
    [301, 9, 1],
    [1200, 1300, 4],
    [400_000, 3, 4],
  ] as const)('of %i x %i with %i channels has exactly the given pixels', async (width, height, channels) => {
    const given = raster(width, height, channels);
    const png = await writePng(given, undefined);

    // libvips rejects wrong checksums of chunks, zlib a wrong checksum of the pixels.
    const pipeline = sharp(png, { failOn: 'warning', limitInputPixels: false });
    const { data, info } = await (channels === 1 ? pipeline.toColourspace('b-w') : pipeline)
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width, height, channels });
    expect(Buffer.compare(data, given.data)).toBe(0);
    expect(inflateSync(chunks(png).get('IDAT') ?? '')).toHaveLength(height * (1 + width * channels));
  });

  it.each([
    [120, 80, { left: 11, top: 7, width: 50, height: 40 }],
    [120, 80, { left: 0, top: 79, width: 120, height: 1 }],
    [7, 9, { left: 6, top: 0, width: 1, height: 1 }],
    [500, 1300, { left: 100, top: 400, width: 3, height: 555 }],
  ] as const)('of %i x %i is the same if only the area %o is read', async (width, height, area) => {
    const given = raster(width, height, 4);
    for (let at = 0; at < given.data.length; at++) {
      const [x, y] = [Math.floor(at / 4) % width, Math.floor(at / 4 / width)];
      const isInside =
        x >= area.left && x < area.left + area.width && y >= area.top && y < area.top + area.height;
      if (!isInside) given.data[at] = 0;
    }

    const whole = await writePng(given, undefined);
    expect(Buffer.compare(await writePng(given, undefined, area), whole)).toBe(0);
  });

  it('declares sRGB and states a density only if the upload has one', async () => {
    const types = async (density: number | undefined) => chunks(await writePng(raster(4, 4, 4), density));

    expect([...(await types(undefined)).keys()]).toEqual(['IHDR', 'sRGB', 'IDAT', 'IEND']);
    const physical = (await types(300)).get('pHYs');
    expect([physical?.readUInt32BE(0), physical?.readUInt32BE(4), physical?.[8]]).toEqual([
      11_811, 11_811, 1,
    ]);
  });

  it('takes almost no bytes for erased pixels', async () => {
    const given = raster(1000, 1000, 4);
    given.data.fill(0, 0, given.data.length * 0.9);

    expect((await writePng(given, undefined)).length).toBeLessThan(given.data.length / 10);
  });
});

describe('the area of visible pixels', () => {
  function imageWith(width: number, height: number, visible: readonly (readonly [number, number])[]) {
    const data = new Uint8Array(width * height * 4);
    for (const [x, y] of visible) data[(y * width + x) * 4 + 3] = 1;
    return { width, height, data };
  }

  test.each([
    ['one pixel', [[2, 3]], { left: 2, top: 3, width: 1, height: 1 }],
    [
      'opposite corners',
      [
        [6, 0],
        [0, 4],
      ],
      { left: 0, top: 0, width: 7, height: 5 },
    ],
    [
      'a wide row above a narrow one',
      [
        [1, 1],
        [5, 1],
        [3, 3],
      ],
      { left: 1, top: 1, width: 5, height: 3 },
    ],
    [
      'a narrow row above a wide one',
      [
        [3, 1],
        [2, 2],
        [4, 2],
      ],
      { left: 2, top: 1, width: 3, height: 2 },
    ],
  ] as const)('finds the bounding box of %s', (_, visible, area) => {
    expect(visibleArea(imageWith(7, 5, visible))).toEqual(area);
  });

  test('finds none in an invisible image', () => {
    expect(visibleArea(imageWith(7, 5, []))).toBeUndefined();
  });
});
