import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { atNight, isNight } from '../../../../proof/vitest/at-night.js';
import { decodeFull, openImage } from '../../src/images/decode.js';
import { encode } from '../../src/images/encode.js';
import { defaultOutput } from '../../src/images/output.js';
import { imageLimits } from '../../src/images/image-limits.js';
import type { RgbaImage } from '../../src/images/rgba-image.js';
import { viewForModel } from '../support/matte.js';
import { adobeRgbProfile } from '../support/colour-files.js';
import { colourPng, pngChunk } from '../support/unusual-files.js';

/**
 * Checks colours against textbook formulas that are independent of libvips: XYZ at D65 by the
 * published matrices of each colour space, then sRGB's matrix and curve.
 */
type Rgb = readonly [number, number, number];

/** Linear RGB to XYZ at D65 (Lindbloom; SMPTE EG 432-1; ITU-R BT.2020). */
const toXyz = {
  srgb: [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.072175],
    [0.0193339, 0.119192, 0.9503041],
  ],
  adobe: [
    [0.5767309, 0.185554, 0.1881852],
    [0.2973769, 0.6273491, 0.0752741],
    [0.0270343, 0.0706872, 0.9911085],
  ],
  p3: [
    [0.4865709, 0.2656677, 0.1982173],
    [0.2289746, 0.6917385, 0.0792869],
    [0, 0.0451134, 1.0439444],
  ],
  bt2020: [
    [0.6369581, 0.1446169, 0.1688809],
    [0.2627002, 0.6779981, 0.0593017],
    [0, 0.0280727, 1.0609851],
  ],
} as const;
const fromXyz = [
  [3.2404542, -1.5371385, -0.4985314],
  [-0.969266, 1.8760108, 0.041556],
  [0.0556434, -0.2040259, 1.0572252],
] as const;

const srgbToLinear = (v: number) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const linearToSrgb = (v: number) => (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);
const dot = ([a, b, c]: Rgb, [x, y, z]: Rgb) => a * x + b * y + c * z;

function expected(stored: Rgb, space: keyof typeof toXyz, toLinear: (v: number) => number): number[] {
  const linear = stored.map(toLinear) as unknown as Rgb;
  const xyz = toXyz[space].map((row) => dot(row, linear)) as unknown as Rgb;
  return fromXyz.map((row) => 255 * Math.min(1, Math.max(0, linearToSrgb(Math.max(0, dot(row, xyz))))));
}

/** Ways in which a file can declare its colours. */
interface Statement {
  readonly chunks: readonly Buffer[];
  readonly space: keyof typeof toXyz;
  readonly toLinear: (v: number) => number;
}

const be32 = (...values: number[]) => {
  const data = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => data.writeUInt32BE(value, 4 * i));
  return data;
};
const gamma = (exponent: number) => pngChunk('gAMA', be32(Math.round(100_000 / exponent)));
const iccp = (profile: Buffer) =>
  pngChunk('iCCP', Buffer.concat([Buffer.from('test\0\0', 'latin1'), deflateSync(profile)]));
const cicp = (primaries: number, transfer: number) => pngChunk('cICP', Buffer.of(primaries, transfer, 0, 1));
/** An orientation (Exif 3.0, 4.6.5.1.6): upside down. */
const upsideDown = pngChunk(
  'eXIf',
  Buffer.from('4d4d002a00000008000101120003000000010003000000000000', 'hex'),
);
const chromaticities = (...values: number[]) => pngChunk('cHRM', be32(...values));
const power = (exponent: number) => (v: number) => v ** exponent;

const statements: Record<string, Statement> = {
  nothing: { chunks: [], space: 'srgb', toLinear: srgbToLinear },
  'an Adobe RGB profile': {
    chunks: [iccp(adobeRgbProfile())],
    space: 'adobe',
    toLinear: power(2.19921875),
  },
  'gAMA of 1.8': { chunks: [gamma(1.8)], space: 'srgb', toLinear: power(1.8) },
  'gAMA of 1': { chunks: [gamma(1)], space: 'srgb', toLinear: power(1) },
  'gAMA of 2.2, meant as sRGB': { chunks: [gamma(2.2)], space: 'srgb', toLinear: srgbToLinear },
  'gAMA and cHRM of Adobe RGB': {
    chunks: [gamma(2.2), chromaticities(31_270, 32_900, 64_000, 33_000, 21_000, 71_000, 15_000, 6000)],
    space: 'adobe',
    toLinear: power(2.2),
  },
  'gAMA of 1, and a cHRM on a line, which is ignored': {
    chunks: [gamma(1), chromaticities(31_270, 32_900, 60_000, 30_000, 40_000, 45_000, 20_000, 60_000)],
    space: 'srgb',
    toLinear: power(1),
  },
  'gAMA of 1, and a cHRM almost on a line, which is ignored': {
    chunks: [gamma(1), chromaticities(31_270, 32_900, 60_000, 30_000, 40_000, 45_000, 20_000, 60_001)],
    space: 'srgb',
    toLinear: power(1),
  },
  'sRGB, which overrules gAMA': {
    chunks: [gamma(1), pngChunk('sRGB', Buffer.of(0))],
    space: 'srgb',
    toLinear: srgbToLinear,
  },
  'a profile, which overrules gAMA': {
    chunks: [gamma(1), iccp(adobeRgbProfile())],
    space: 'adobe',
    toLinear: power(2.19921875),
  },
  'cICP of Display P3': { chunks: [cicp(12, 13)], space: 'p3', toLinear: srgbToLinear },
  'cICP of Display P3, which overrules a profile': {
    chunks: [cicp(12, 13), iccp(adobeRgbProfile())],
    space: 'p3',
    toLinear: srgbToLinear,
  },
  'cICP of BT.2020, linear': { chunks: [cicp(9, 8)], space: 'bt2020', toLinear: power(1) },
  'cICP that is not of RGB, which is ignored': {
    chunks: [pngChunk('cICP', Buffer.of(9, 16, 9, 1))],
    space: 'srgb',
    toLinear: srgbToLinear,
  },
};

async function decoded(file: Uint8Array): Promise<number[]> {
  const opened = await openImage(file, imageLimits(1_000_000));
  if ('rejection' in opened) throw new Error(opened.rejection.code);
  const image = await decodeFull(opened);
  return [...(image?.data.subarray(0, 4) ?? [])];
}

const colour = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));

describe.each(Object.entries(statements))('a PNG that states %s', (_name, { chunks, space, toLinear }) => {
  test.each([
    [8, false],
    [16, true],
    ...atNight<[number, boolean]>([
      [8, true],
      [16, false],
    ]),
  ])('%d bits, alpha %s: within 2 of 255 of the formulas', async (depth, alpha) => {
    const turn = depth === 16 ? [upsideDown] : [];
    await fc.assert(
      fc.asyncProperty(colour, async (rgb) => {
        const scale = depth === 16 ? 257 : 1;
        const samples = [...rgb, ...(alpha ? [255] : [])].map((value) => value * scale);
        const file = colourPng({ depth, colourType: alpha ? 6 : 2, samples, chunks: [...chunks, ...turn] });
        const right = expected(rgb.map((value) => value / 255) as unknown as Rgb, space, toLinear);
        const [r = 0, g = 0, b = 0, a] = await decoded(file);
        expect(a).toBe(255);
        [r, g, b].forEach((value, i) => {
          expect(Math.abs(value - (right[i] ?? 0))).toBeLessThanOrEqual(2);
        });
      }),
      { numRuns: isNight ? 25 : 10 },
    );
  });
});

const greyStatements = Object.entries(statements).filter(([, { space }]) => space === 'srgb');

describe.each(greyStatements)('a grey PNG that states %s', (_name, { chunks, toLinear }) => {
  test.each([8, 16])('%d bits: within 2 of 255 of the formulas', async (depth) => {
    for (const grey of [0, 40, 128, 200, 255]) {
      const samples = [grey * (depth === 16 ? 257 : 1)];
      const [value = 0] = await decoded(colourPng({ depth, colourType: 0, samples, chunks }));
      const [right = 0] = expected([grey / 255, grey / 255, grey / 255], 'srgb', toLinear);
      expect(Math.abs(value - right)).toBeLessThanOrEqual(2);
    }
  });
});

test('HDR: graphics white and brighter become white, black stays black', async () => {
  // 203 cd/m² is 58 % of the signal in PQ and 75 % in HLG.
  for (const [transfer, white] of [
    [16, 0.5807],
    [18, 0.75],
  ] as const) {
    const at = async (signal: number) =>
      decoded(
        colourPng({
          depth: 16,
          colourType: 2,
          samples: Array<number>(3).fill(Math.ceil(signal * 255) * 257),
          chunks: [cicp(9, transfer)],
        }),
      );
    for (const signal of [white, 0.9, 1]) expect(Math.min(...(await at(signal)))).toBeGreaterThanOrEqual(252);
    expect(Math.max(...(await at(0)).slice(0, 3))).toBeLessThanOrEqual(2);
    expect((await at(white / 2))[0]).toBeLessThan(180);
  }
});

describe("the network's view", () => {
  test('of a large image averages the pixels, with grey behind transparent ones', () => {
    const image = { width: 60, height: 40, data: new Uint8Array(60 * 40 * 4) };
    for (let i = 0; i < 60 * 40; i++) image.data.set(i % 2 === 0 ? [200, 100, 0, 255] : [0, 0, 0, 0], i * 4);
    const view = viewForModel(image, 10, 10);
    expect(view).toHaveLength(10 * 10 * 3);
    // Half colour, half grey.
    [164, 114, 64].forEach((value, channel) => {
      for (let i = channel; i < view.length; i += 3)
        expect(Math.abs((view[i] ?? 0) - value)).toBeLessThanOrEqual(1);
    });
  });

  test('equals a filter over all pixels, up to rounding', async () => {
    const noise = {
      create: {
        width: 900,
        height: 610,
        channels: 3,
        background: '#888',
        noise: { type: 'gaussian', mean: 128, sigma: 40 },
      },
    } as const;
    const smooth = sharp(await sharp(noise).blur(6).png().toBuffer());
    const { data, info } = await smooth.clone().ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    const view = viewForModel({ width: info.width, height: info.height, data }, 128, 128);
    const right = await smooth
      .clone()
      .resize(128, 128, { fit: 'fill', kernel: 'lanczos3' })
      .removeAlpha()
      .raw()
      .toBuffer();
    const error = right.reduce((sum, value, i) => sum + Math.abs(value - (view[i] ?? 0)), 0) / right.length;
    expect(error).toBeLessThan(1);
  });
});

async function encodePng(image: RgbaImage, density: number | undefined): Promise<Uint8Array> {
  const subject = { left: 0, top: 0, width: image.width, height: image.height };
  return (await encode(image, defaultOutput, subject, density))?.bytes ?? new Uint8Array();
}

describe('the resulting PNG', () => {
  const image = () => ({ width: 2, height: 2, data: new Uint8Array(16).fill(200) });

  test('declares sRGB, and no density if the upload has none', async () => {
    const png = Buffer.from(await encodePng(image(), undefined));
    expect(png.toString('latin1', 37, 41)).toBe('sRGB');
    expect(png.includes('pHYs')).toBe(false);
    expect((await sharp(png).raw().toBuffer())[0]).toBe(200);
  });

  test('has no density if the upload states an absurd one', async () => {
    const resolution = pngChunk(
      'eXIf',
      Buffer.from(
        '49492a000800000003001a0105000100000032000000' +
          '1b010500010000003a00000028010300010000000200000000000000' +
          '00c2eb0b0100000000c2eb0b01000000',
        'hex',
      ),
    );
    const file = colourPng({ depth: 8, colourType: 2, samples: [0, 0, 0], chunks: [resolution] });
    expect((await sharp(file).metadata()).density).toBe(200_000_000);
    expect(await openImage(file, imageLimits(1000))).toMatchObject({ density: undefined });
  });

  test('has no density if the upload states only the ratio of its sides', async () => {
    const ratio = pngChunk('pHYs', Buffer.from('000000040000000300', 'hex'));
    const file = colourPng({ depth: 8, colourType: 2, samples: [0, 0, 0], chunks: [ratio] });
    expect((await sharp(file).metadata()).density).toBe(102);
    expect(await openImage(file, imageLimits(1000))).toMatchObject({ density: undefined });
  });

  test("has the upload's density", async () => {
    for (const upload of [
      sharp({ create: { width: 9, height: 9, channels: 3, background: '#fff' } }).withMetadata({
        density: 300,
      }),
    ]) {
      for (const file of [await upload.clone().png().toBuffer(), await upload.clone().jpeg().toBuffer()]) {
        const opened = await openImage(file, imageLimits(1000));
        if ('rejection' in opened) throw new Error(opened.rejection.code);
        const png = await encodePng(image(), opened.density);
        expect((await sharp(png).metadata()).density).toBe(300);
      }
    }
  });
});
