import sharp from 'sharp';

import type { Random } from './random.js';

type Rgb = readonly [number, number, number];
/** A dark colour and a bright one. */
export type Palette = readonly [Rgb, Rgb];

/**
 * Sums of smoothed noise at several scales: what cloth, fur, stone, leaves and sky look like from afar.
 * @returns 0-1
 */
async function clouds(
  width: number,
  height: number,
  random: Random,
  octaves: readonly { readonly cells: number; readonly weight: number }[],
): Promise<Float32Array> {
  const sum = new Float32Array(width * height);
  let total = 0;
  for (const { cells, weight } of octaves) {
    const w = Math.max(2, cells);
    const h = Math.max(2, Math.round((cells * height) / width));
    const noise = Buffer.from(Uint8Array.from({ length: w * h }, () => random.next() * 256));
    const { data } = await sharp(noise, { raw: { width: w, height: h, channels: 1 } })
      .resize(width, height, { fit: 'fill', kernel: 'cubic' })
      .extractChannel(0)
      .raw()
      .toBuffer({ resolveWithObject: true });
    for (const [i, value] of sum.entries()) sum[i] = value + ((data[i] ?? 0) / 255) * weight;
    total += weight;
  }
  return sum.map((value) => value / total);
}

/** @param t 0-1 */
const mix = (a: number, b: number, t: number) => a + (b - a) * t;

/** An opaque RGB texture between two colours. */
export async function texture(
  width: number,
  height: number,
  random: Random,
  look: { readonly colours: Palette; readonly grain?: number; readonly scale?: number },
): Promise<Uint8Array> {
  const { colours, grain = 0.35, scale = 6 } = look;
  const coarse = await clouds(width, height, random, [
    { cells: scale, weight: 1 },
    { cells: scale * 4, weight: 0.5 },
    { cells: scale * 16, weight: 0.25 },
  ]);
  const fine = await clouds(width, height, random, [{ cells: Math.round(width / 3), weight: 1 }]);
  const rgb = new Uint8Array(width * height * 3);
  const [dark, bright] = colours;
  for (const [i, value] of coarse.entries()) {
    const t = Math.min(1, Math.max(0, (value - 0.5) * 2.2 + 0.5));
    const light = 1 + ((fine[i] ?? 0) - 0.5) * grain;
    rgb[i * 3] = Math.min(255, Math.max(0, mix(dark[0], bright[0], t) * light));
    rgb[i * 3 + 1] = Math.min(255, Math.max(0, mix(dark[1], bright[1], t) * light));
    rgb[i * 3 + 2] = Math.min(255, Math.max(0, mix(dark[2], bright[2], t) * light));
  }
  return rgb;
}

const palettes = {
  wall: [
    [205, 200, 190],
    [228, 224, 216],
  ],
  garden: [
    [28, 66, 24],
    [110, 150, 70],
  ],
  street: [
    [70, 74, 82],
    [150, 146, 140],
  ],
  dusk: [
    [40, 32, 70],
    [214, 120, 84],
  ],
} satisfies Record<string, Palette>;

export type BackgroundKind = keyof typeof palettes;

/** Backgrounds of different difficulty; each is an SVG over a texture, blurred as by a lens. */
export async function background(
  width: number,
  height: number,
  random: Random,
  kind: BackgroundKind,
): Promise<Uint8Array> {
  const base = await texture(width, height, random, {
    colours: palettes[kind],
    grain: kind === 'wall' ? 0.08 : 0.3,
    scale: kind === 'wall' ? 3 : 9,
  });
  const spots = Array.from({ length: kind === 'wall' ? 0 : 40 }, () => {
    const palette: Palette = palettes[kind];
    const [r = 0, g = 0, b = 0] = random
      .pick(palette)
      .map((value) => Math.min(255, value * random.between(0.5, 1.6)));
    return `<circle cx="${random.next() * width}" cy="${random.next() * height}" r="${random.between(0.01, 0.07) * width}" fill="rgb(${r | 0},${g | 0},${b | 0})" opacity="${random.between(0.3, 0.9)}"/>`;
  });
  const overlay = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${spots.join('')}</svg>`,
  );
  const { data } = await sharp(Buffer.from(base), { raw: { width, height, channels: 3 } })
    .composite([{ input: overlay }])
    .blur(kind === 'street' ? 2 : 5)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return new Uint8Array(data);
}
