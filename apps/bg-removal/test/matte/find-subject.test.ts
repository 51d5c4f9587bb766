import sharp from 'sharp';
import type { RgbaImage } from '../../src/images/rgba-image.js';
import { findSubject, type FoundSubject } from '../../src/matte/find-subject.js';
import { createLook } from '../../src/matte/surroundings.js';
import { viewForModel } from '../support/matte.js';

const inputSize = { width: 128, height: 128 };

/** An SVG of 400 × 300 pixels, transparent where nothing is drawn. */
async function drawn(shapes: string): Promise<RgbaImage> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300">${shapes}</svg>`;
  const { data, info } = await sharp(Buffer.from(svg))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data: new Uint8Array(data) };
}

type Network = (rgb: Uint8Array) => Float32Array;

/** Foreground wherever a colour is; both the grey of transparent areas and white are background. */
const takesColours: Network = (rgb) =>
  Float32Array.from({ length: rgb.length / 3 }, (_, i) => {
    const [r = 0, g = 0, b = 0] = rgb.subarray(i * 3, i * 3 + 3);
    return Math.max(r, g, b) - Math.min(r, g, b) > 60 ? 1 : 0;
  });

/** Like a network that takes what touches the border of its view for the background. */
const takesWhatHasRoom: Network = (rgb) => {
  const { width, height } = inputSize;
  const mask = takesColours(rgb);
  const touches = mask.some((value, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return value === 1 && (x === 0 || y === 0 || x === width - 1 || y === height - 1);
  });
  return touches ? mask.fill(0) : mask;
};

async function found(
  image: RgbaImage,
  network: Network,
): Promise<{ subject: FoundSubject; views: Uint8Array[] }> {
  const views: Uint8Array[] = [];
  const isOpaque = image.data.every((value, i) => i % 4 !== 3 || value === 255);
  const look = createLook(
    inputSize,
    (area, { width, height }) => viewForModel(image, width, height, area),
    (rgb) => {
      views.push(rgb.slice());
      return { ...inputSize, data: network(rgb) };
    },
  );
  return { subject: await findSubject(image, isOpaque, look), views };
}

const star =
  '<path d="M200 20 250 130 370 140 280 210 310 285 200 240 90 285 120 210 30 140 150 130Z" fill="#d22"/>';
const white = '<rect width="400" height="300" fill="#fff"/>';

describe('an image with transparency', () => {
  test('keeps its own alpha if the network agrees with its outline', async () => {
    const { subject, views } = await found(await drawn(star), takesColours);
    expect(subject.kind).toBe('own-alpha');
    expect(views).toHaveLength(1);
  });

  test('keeps its own alpha if its subject fills its box, with room around', async () => {
    const sheet = '<path d="M30 20 250 20 370 140 370 280 30 280Z" fill="#d22"/>';
    expect((await found(await drawn(sheet), takesColours)).subject.kind).toBe('own-alpha');
  });

  test('keeps its own alpha where the network rejects only the inside', async () => {
    const inside = `${star}<circle cx="200" cy="160" r="35" fill="#eee"/>`;
    expect((await found(await drawn(inside), takesColours)).subject.kind).toBe('own-alpha');
  });

  const blank: Network = (rgb) => new Float32Array(rgb.length / 3);

  test('keeps its own alpha if a line is drawn along its outline, even if the network sees nothing', async () => {
    const outlined = star.replace('fill="#d22"', 'fill="#9bd" stroke="#000" stroke-width="6"');
    expect((await found(await drawn(outlined), blank)).subject.kind).toBe('own-alpha');
    expect((await found(await drawn(star), blank)).subject.kind).toBe('mask');
  });

  test('is cut out again if lines cross its outline and the network sees nothing', async () => {
    const ground = `<path d="M0 150 400 150" stroke="#9bd" stroke-width="300" stroke-dasharray="9 13"/>`;
    const lasso = '<clipPath id="c"><path d="M200 10 390 190 200 290 10 100Z"/></clipPath>';
    const crop = `${lasso}<g clip-path="url(#c)">${white}${ground}</g>`;
    expect((await found(await drawn(crop), blank)).subject.kind).toBe('mask');
  });

  test('is seen with grey around its visible part', async () => {
    const { views } = await found(await drawn(star), takesColours);
    const [view = new Uint8Array()] = views;
    const at = (x: number, y: number) => [...view.subarray((y * 128 + x) * 3, (y * 128 + x) * 3 + 3)];
    // 30 % more on each side of the box: 24 of 128.
    for (const [x, y] of [
      [0, 0],
      [20, 64],
      [64, 20],
      [127, 127],
    ] as const)
      expect(at(x, y)).toEqual([128, 128, 128]);
    expect(at(64, 70)[0]).toBeGreaterThan(180);
  });

  test('is cut out again if the network rejects most of its outline', async () => {
    const lasso = `<path d="M200 10 390 150 200 290 10 150Z" fill="#888"/><g transform="translate(120 90) scale(.4)">${star}</g>`;
    const { subject, views } = await found(await drawn(lasso), takesColours);
    expect(subject.kind).toBe('mask');
    expect(views).toHaveLength(2);
  });

  test.each([
    ['rounded corners', '<rect width="400" height="300" rx="40" fill="#d22"/>'],
    ['an oval crop', '<ellipse cx="200" cy="150" rx="190" ry="140" fill="#d22"/>'],
    ['a card on transparency', '<rect x="30" y="20" width="340" height="260" rx="20" fill="#d22"/>'],
    ['a cut corner', '<path d="M0 0 320 0 400 80 400 300 0 300Z" fill="#d22"/>'],
    ['one transparent half', '<rect width="200" height="300" fill="#d22"/>'],
    ['no visible pixel', '<rect width="400" height="300" fill="#d22" opacity="0.2"/>'],
  ])('with %s is no finished cut-out', async (_what, shapes) => {
    const { subject, views } = await found(await drawn(shapes), takesColours);
    expect(subject.kind).toBe('mask');
    expect(views).toHaveLength(1);
  });

  test('loses a separate part that the network rejects', async () => {
    const { subject } = await found(
      await drawn(`${star}<rect x="5" y="5" width="50" height="40" fill="#777"/>`),
      takesColours,
    );
    if (subject.kind !== 'own-alpha') throw new Error('is no finished cut-out');
    const { rejected, outline } = subject;
    const shareOf = (from: number, to: number) => {
      const part = rejected.filter((_, i) => i % 256 >= from && i % 256 < to);
      return part.reduce((sum, is) => sum + is, 0) / part.length;
    };
    expect(outline.box).toMatchObject({ left: 5, top: 5 });
    expect(shareOf(0, 30)).toBeGreaterThan(0.1);
    expect(shareOf(60, 256)).toBe(0);
  });

  test('with lines only is decided by all of them', async () => {
    const lines = '<path d="M20 20 380 280M20 280 380 20" stroke="#777" stroke-width="3"/>';
    expect((await found(await drawn(lines), takesColours)).subject.kind).toBe('mask');
    expect((await found(await drawn(lines.replace('#777', '#d22')), takesColours)).subject.kind).toBe(
      'own-alpha',
    );
  });
});

describe('an opaque image', () => {
  const foreground = ({ subject }: { subject: FoundSubject }) => {
    if (subject.kind !== 'mask') throw new Error('has no mask');
    return subject.mask.data.reduce((sum, value) => sum + value, 0) / subject.mask.data.length;
  };

  test.each([
    ['up to its border', 'translate(-30 -20) scale(1.14)'],
    ['cut off at the bottom', 'translate(-10 40) scale(1.05)'],
    ['with little room', ''],
  ])('with a subject %s on a plain ground is seen with room around it', async (_what, transform) => {
    const result = await found(
      await drawn(`${white}<g transform="${transform}">${star}</g>`),
      takesWhatHasRoom,
    );
    expect(result.views).toHaveLength(2);
    expect(foreground(result)).toBeGreaterThan(0.2);
    const [, second = new Uint8Array()] = result.views;
    expect([...second.subarray(0, 3)]).toEqual([255, 255, 255]);
  });

  test('with a subject that touches two sides on a plain ground is seen with room around it', async () => {
    const bust = '<path d="M40 300 40 250 160 120 160 0 240 0 240 120 360 250 360 300Z" fill="#d22"/>';
    const result = await found(await drawn(`${white}${bust}`), takesWhatHasRoom);
    expect(result.views).toHaveLength(2);
    expect(foreground(result)).toBeGreaterThan(0.2);
  });

  test.each([
    ['enough room', `${white}<g transform="translate(120 90) scale(.4)">${star}</g>`],
    ['a frame instead of a subject', `${white}<rect x="5" y="5" width="390" height="290" fill="#d22"/>`],
    ['nothing but its ground', white],
    [
      'a ground of two colours',
      `${white}<rect width="400" height="150" fill="#bcd"/><g transform="translate(-30 -20) scale(1.14)">${star}</g>`,
    ],
    [
      'a gradient behind it',
      `<linearGradient id="g"><stop stop-color="#fff"/><stop offset="1" stop-color="#888"/></linearGradient><rect width="400" height="300" fill="url(#g)"/>${star}`,
    ],
  ])('with %s is seen once', async (_what, shapes) => {
    expect((await found(await drawn(shapes), takesColours)).views).toHaveLength(1);
  });

  test('gets the higher of both masks', async () => {
    let looks = 0;
    const halves: Network = (rgb) => {
      const isFirst = looks++ === 0;
      return Float32Array.from({ length: rgb.length / 3 }, (_, i) => (i % 128 < 64 === isFirst ? 0.9 : 0.1));
    };
    const { subject } = await found(await drawn(`${white}${star}`), halves);
    if (subject.kind !== 'mask') throw new Error('has no mask');
    const row = [...subject.mask.data.subarray(64 * 128, 65 * 128)];
    expect(row.filter((_, x) => Math.abs(x - 64) > 3).every((value) => value > 0.8)).toBe(true);
  });
});

test('a small subject is seen twice, the second time larger', async () => {
  const ground = `${white}<path d="M0 150 400 150" stroke="#888" stroke-width="300" stroke-dasharray="9 13"/>`;
  const { views } = await found(
    await drawn(`${ground}<circle cx="150" cy="120" r="30" fill="#d22"/>`),
    takesColours,
  );
  const shares = views.map((view) => takesColours(view).filter((value) => value === 1).length);
  expect(shares).toHaveLength(2);
  expect(shares[1]).toBeGreaterThan(3 * (shares[0] ?? 0));
});
