import sharp from 'sharp';
import { seededRandom } from './random.js';
import { shapes, type ShapeName } from './shapes.js';
import { background, texture, type BackgroundKind, type Palette } from './textures.js';

/** An upload. */
export interface Shot {
  readonly width: number;
  readonly height: number;
  /** What the camera sees, RGB. */
  readonly composite: Uint8Array;
  /** Alpha of the upload, 0-255; absent: opaque. */
  readonly own?: Uint8Array;
}

/** A shot with known ground truth. */
export interface Scene extends Shot {
  readonly name: string;
  readonly group: string;
  /** Exact matte, 0-255. */
  readonly alpha: Uint8Array;
  /** Exact colours, RGB; null if unknown. */
  readonly foreground: Uint8Array | null;
}

/** A scene whose subject is known alone. */
export type SubjectScene = Scene & { readonly foreground: Uint8Array };

/** What a scene is made from. */
export interface SceneSpec {
  readonly group: ShapeName;
  readonly background: BackgroundKind;
  readonly seed: number;
  readonly width: number;
  readonly height: number;
}

const brown: Palette = [
  [150, 90, 40],
  [222, 170, 110],
];
const grey: Palette = [
  [60, 60, 66],
  [130, 126, 130],
];
const red: Palette = [
  [196, 60, 48],
  [235, 140, 90],
];
const white: Palette = [
  [225, 215, 200],
  [250, 246, 240],
];

/** Each background with the subjects that a person could distinguish from it. */
const subjectsOn: Record<BackgroundKind, [Palette, ...Palette[]]> = {
  wall: [brown, grey, red],
  garden: [brown, grey, red, white],
  street: [brown, red, white],
  dusk: [white, grey],
};
const backgrounds: readonly BackgroundKind[] = ['wall', 'garden', 'street', 'dusk'];
const groups: readonly ShapeName[] = ['solid', 'creature', 'soft', 'hair', 'holes', 'thin', 'translucent'];

/** What phones and cameras send, 2 to 12 megapixels. */
const largeScenes: readonly SceneSpec[] = [
  { group: 'text', background: 'wall', seed: 201, width: 1632, height: 1224 },
  { group: 'people', background: 'street', seed: 202, width: 2400, height: 1800 },
  { group: 'leaves', background: 'dusk', seed: 203, width: 2400, height: 1800 },
  { group: 'fur', background: 'garden', seed: 204, width: 3264, height: 2448 },
  { group: 'translucent', background: 'wall', seed: 205, width: 3264, height: 2448 },
  { group: 'hair', background: 'dusk', seed: 206, width: 4000, height: 3000 },
];

export type SceneSize = 'small' | 'medium' | 'large';

/**
 * The contents of a set. Medium: every shape over every background, at a megapixel and some at four;
 * small: every shape once; large: six subjects at 2 to 12 megapixels.
 */
export function sceneList(size: SceneSize = 'medium'): readonly SceneSpec[] {
  if (size === 'large') return largeScenes;
  if (size === 'small') {
    return groups.map((group, i) => ({
      group,
      background: backgrounds[i % backgrounds.length] ?? 'wall',
      seed: 101 + i,
      width: 720,
      height: 540,
    }));
  }
  return groups.flatMap((group, i) =>
    backgrounds.map((kind, k) => ({
      group,
      background: kind,
      seed: 1 + i * 10 + k,
      ...(k === 3 ? { width: 2400, height: 1800 } : { width: 1200, height: 900 }),
    })),
  );
}

export async function makeScene(spec: SceneSpec): Promise<SubjectScene> {
  const { group, background: kind, seed, width, height } = spec;
  const random = seededRandom(seed);
  const { draw, blur } = shapes[group];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#000"/><g fill="#fff">${draw(random, width, height)}</g></svg>`;
  let matte = sharp(Buffer.from(svg)).removeAlpha().toColourspace('b-w');
  if (blur > 0) matte = matte.blur((blur * width) / 1200);
  const alpha = new Uint8Array(await matte.extractChannel(0).raw().toBuffer());
  const colours = random.pick(subjectsOn[kind]);
  const foreground = await texture(width, height, random, { colours, scale: 5 });
  const behind = await background(width, height, random, kind);
  const name = `${group}-${kind}-${width}`;
  return { name, group, width, height, alpha, foreground, composite: composite(alpha, foreground, behind) };
}

/** What the camera sees of a foreground in front of a background, RGB. */
export function composite(alpha: Uint8Array, foreground: Uint8Array, behind: Uint8Array): Uint8Array {
  const mixed = new Uint8Array(foreground.length);
  for (const [i, value] of alpha.entries()) {
    const a = value / 255;
    for (let c = i * 3; c < i * 3 + 3; c++) {
      mixed[c] = Math.round(a * (foreground[c] ?? 0) + (1 - a) * (behind[c] ?? 0));
    }
  }
  return mixed;
}
