import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { adobeRgbProfile, ycckJpeg } from '../support/colour-files.js';
import { backdrop, picture, pixelsOf, subject } from '../support/pictures.js';
import { postImage, startWarmService, type TestService } from '../support/service.js';
import { animatedPng, interlacedGreyAlpha } from '../support/unusual-files.js';

let service: TestService;
beforeAll(async () => {
  service = await startWarmService();
});
afterAll(() => service.stop());

async function cutOut(file: Uint8Array, fields: Record<string, string> = {}) {
  const response = await postImage(service, file, { fields });
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
  expect(response.get('content-type')).toBe('image/png');
  const pixels = await pixelsOf(response.body as Buffer);
  expect(response.get('x-width')).toBe(String(pixels.width));
  expect(response.get('x-height')).toBe(String(pixels.height));
  return pixels;
}

/** The disc is opaque and has its colour, the rest is transparent and erased. */
async function expectDisc(file: Uint8Array, { tolerance = 8, grey = false } = {}) {
  const pixels = await cutOut(file);
  expect([pixels.width, pixels.height]).toEqual([96, 64]);
  const inside = pixels.at(32, 32);
  expect(inside.alpha).toBe(255);
  expect(pixels.at(32, 12).alpha).toBe(255);
  if (!grey) {
    for (const channel of ['r', 'g', 'b'] as const) {
      expect(Math.abs(inside[channel] - subject[channel])).toBeLessThanOrEqual(tolerance);
    }
  }
  for (const [x, y] of [
    [0, 0],
    [95, 0],
    [0, 63],
    [95, 63],
    [80, 32],
    [32, 52],
  ] as const) {
    expect(pixels.at(x, y)).toEqual({ r: 0, g: 0, b: 0, alpha: 0 });
  }
}

describe('accepts', () => {
  const cases: Record<string, () => Promise<Uint8Array>> = {
    'baseline JPEG': () => picture().jpeg({ quality: 95 }).toBuffer(),
    'progressive JPEG': () => picture().jpeg({ quality: 95, progressive: true }).toBuffer(),
    'JPEG without chroma subsampling': () =>
      picture().jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer(),
    PNG: () => picture().png().toBuffer(),
    'interlaced PNG': () => picture().png({ progressive: true }).toBuffer(),
    '16-bit PNG': () => picture().toColourspace('rgb16').png().toBuffer(),
    'palette PNG': () => picture().png({ palette: true, colours: 32 }).toBuffer(),
    'RGBA PNG': () => picture().ensureAlpha().png().toBuffer(),
    'animated PNG, first frame': async () => animatedPng(await picture().png().toBuffer()),
    'lossy WebP': () => picture().webp({ quality: 95 }).toBuffer(),
    'lossless WebP': () => picture().webp({ lossless: true }).toBuffer(),
    'WebP with alpha': () => picture().ensureAlpha().webp({ lossless: true }).toBuffer(),
  };
  for (const [name, make] of Object.entries(cases)) {
    test(name, async () => expectDisc(await make()));
  }

  test('grey JPEG', async () => {
    await expectDisc(await picture().greyscale().jpeg().toBuffer(), { grey: true });
  });

  test('grey PNG with alpha, interlaced', async () => {
    await expectDisc(await interlacedGreyAlpha(picture()), { grey: true });
  });

  test('the first frame of an animated WebP', async () => {
    const first = await picture().png().toBuffer();
    const second = await sharp({ create: { width: 96, height: 64, channels: 3, background: '#ffffff' } })
      .png()
      .toBuffer();
    const animation = await sharp([first, second], { join: { animated: true } })
      .webp({ lossless: true })
      .toBuffer();
    expect((await sharp(animation).metadata()).pages).toBe(2);
    await expectDisc(animation);
  });

  test('CMYK JPEG with a profile', async () => {
    await expectDisc(await picture().withIccProfile('cmyk').jpeg({ quality: 98 }).toBuffer(), {
      tolerance: 24,
    });
  });

  test('CMYK JPEG without a profile, in the colours that browsers show', async () => {
    const cmyk = await picture().toColourspace('cmyk').jpeg({ quality: 98 }).toBuffer();
    expect(await sharp(cmyk).metadata()).toMatchObject({ space: 'cmyk', hasProfile: false });
    const ink = await sharp(cmyk).pipelineColourspace('cmyk').toColourspace('cmyk').raw().toBuffer();
    const inside = (await cutOut(cmyk)).at(32, 32);
    const [c = 0, m = 0, y = 0, k = 0] = ink.subarray((32 * 96 + 32) * 4);
    const light = (part: number) => Math.round(((255 - part) * (255 - k)) / 255);
    expect(inside).toEqual({ r: light(c), g: light(m), b: light(y), alpha: 255 });
  });

  test('YCCK JPEG without a profile', async () => {
    const pixels = await cutOut(ycckJpeg([255 - subject.r, 255 - subject.g, 255 - subject.b, 0]));
    expect([pixels.width, pixels.height]).toEqual([8, 8]);
    const inside = pixels.at(4, 4);
    expect(inside.alpha).toBe(255);
    for (const channel of ['r', 'g', 'b'] as const) {
      expect(Math.abs(inside[channel] - subject[channel])).toBeLessThanOrEqual(3);
    }
  });

  test('Adobe RGB, with colours right in the sRGB output', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'adobe-rgb-'));
    try {
      const profile = path.join(folder, 'profile.icc');
      await writeFile(profile, adobeRgbProfile());
      const wide = await picture().withIccProfile(profile).png().toBuffer();
      expect((await sharp(wide).metadata()).icc?.includes('Adobe RGB')).toBe(true);
      const [stored = 0] = await sharp(wide, { ignoreIcc: true })
        .extract({ left: 32, top: 32, width: 1, height: 1 })
        .raw()
        .toBuffer();
      expect(Math.abs(stored - subject.r)).toBeGreaterThan(3);
      await expectDisc(wide, { tolerance: 3 });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('Display P3, with colours right in the sRGB output', async () => {
    const wide = await picture().withIccProfile('p3').png().toBuffer();
    const [stored = 0] = await sharp(wide, { ignoreIcc: true })
      .extract({ left: 32, top: 32, width: 1, height: 1 })
      .raw()
      .toBuffer();
    // The file's values are not sRGB, so misinterpreting them would be detected.
    expect(Math.abs(stored - subject.r)).toBeGreaterThan(3);
    await expectDisc(wide, { tolerance: 3 });
  });
});

describe('orientation', () => {
  // By day the usual ones: upright, upside down, and on either side, plain and mirrored.
  for (const orientation of [1, 3, 5, 6, 8, ...atNight([2, 4, 7] as const)] as const) {
    test(`EXIF ${orientation} comes out upright`, async () => {
      const upright = await picture().png().toBuffer();
      // Store the pixels so that this orientation makes them upright again.
      const turned = {
        1: sharp(upright),
        2: sharp(upright).flop(),
        3: sharp(upright).rotate(180),
        4: sharp(upright).flip(),
        5: sharp(await sharp(upright).rotate(90).toBuffer()).flop(),
        6: sharp(upright).rotate(270),
        7: sharp(await sharp(upright).rotate(270).toBuffer()).flop(),
        8: sharp(upright).rotate(90),
      }[orientation];
      await expectDisc(await turned.withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer());
    });
  }
});

describe('sizes', () => {
  const white = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#ffffff' } })
      .png()
      .toBuffer();

  test('one pixel', async () => {
    const pixels = await cutOut(await white(1, 1));
    expect(pixels.at(0, 0)).toEqual({ r: 255, g: 255, b: 255, alpha: 255 });
  });

  test('1 × 20000 and 20000 × 1', async () => {
    const tall = await cutOut(await white(1, 20_000));
    expect([tall.width, tall.height, tall.at(0, 19_999).alpha]).toEqual([1, 20_000, 255]);
    const wide = await cutOut(await white(20_000, 1));
    expect([wide.width, wide.height, wide.at(19_999, 0).alpha]).toEqual([20_000, 1, 255]);
  });

  test('an odd size', async () => {
    const pixels = await cutOut(await picture(333, 217).jpeg().toBuffer());
    expect([pixels.width, pixels.height]).toEqual([333, 217]);
  });
});

describe("the upload's own alpha", () => {
  test('is kept: transparent stays transparent, and translucent does not become more opaque', async () => {
    const half = await picture().ensureAlpha(0.5).png().toBuffer();
    const pixels = await cutOut(half, { feather: '0', threshold: '0' });
    expect(pixels.at(32, 32).alpha).toBeGreaterThanOrEqual(126);
    expect(pixels.at(32, 32).alpha).toBeLessThanOrEqual(129);
    expect(pixels.at(90, 5).alpha).toBe(0);
  });

  test('hidden colours of transparent pixels do not appear in the output', async () => {
    const { data, info } = await picture().ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    for (let i = 0; i < data.length / 2; i += 4) data[i + 3] = 0;
    const file = await sharp(data, { raw: info }).png().toBuffer();
    const pixels = await cutOut(file);
    expect(pixels.data.subarray(0, data.length / 2).every((value) => value === 0)).toBe(true);
  });
});

test('the background cannot be recovered from transparent pixels', async () => {
  const pixels = await cutOut(await picture(300, 200).png().toBuffer());
  let transparent = 0;
  let recoverable = 0;
  for (let i = 0; i < pixels.data.length; i += 4) {
    const [r = 0, g = 0, b = 0, alpha] = pixels.data.subarray(i, i + 4);
    if (alpha !== 0) continue;
    transparent++;
    if (r + g + b > 0) recoverable++;
  }
  expect(recoverable).toBe(0);
  expect(transparent).toBeGreaterThan(300 * 200 * 0.5);
});

test('edge pixels have the colour of the subject, not of the backdrop', async () => {
  const pixels = await cutOut(await picture(300, 200).png().toBuffer(), { feather: '0', threshold: '0' });
  let edges = 0;
  for (let i = 0; i < pixels.data.length; i += 4) {
    const [, , blue = 0, alpha = 0] = pixels.data.subarray(i, i + 4);
    if (alpha < 30 || alpha > 225) continue;
    edges++;
    expect(Math.abs(blue - subject.b)).toBeLessThan(Math.abs(blue - backdrop.b));
  }
  expect(edges).toBeGreaterThan(20);
});
