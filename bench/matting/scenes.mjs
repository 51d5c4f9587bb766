import sharp from 'sharp';
import { seededRandom } from './random.mjs';
import { shapes } from './shapes.mjs';
import { background, texture } from './textures.mjs';

/**
 * @typedef {object} Scene
 * @property {string} name
 * @property {string} group
 * @property {number} width
 * @property {number} height
 * @property {Uint8Array} alpha exact matte, 0-255
 * @property {Uint8Array | null} foreground exact colours, RGB; null where they are not known
 * @property {Uint8Array} composite what the camera would see, RGB
 *
 * @typedef {import('./textures.mjs').BackgroundKind} BackgroundKind
 * @typedef {import('./textures.mjs').Palette} Palette
 *
 * @typedef {object} SceneSpec what a scene is made from
 * @property {keyof typeof shapes} group
 * @property {BackgroundKind} background
 * @property {number} seed
 * @property {number} width
 * @property {number} height
 */

/** @type {Palette} */
const brown = [
  [150, 90, 40],
  [222, 170, 110],
];
/** @type {Palette} */
const grey = [
  [60, 60, 66],
  [130, 126, 130],
];
/** @type {Palette} */
const red = [
  [196, 60, 48],
  [235, 140, 90],
];
/** @type {Palette} */
const white = [
  [225, 215, 200],
  [250, 246, 240],
];

/**
 * Each background with the subjects that a person, too, would tell from it.
 * @type {Record<BackgroundKind, [Palette, ...Palette[]]>}
 */
const subjectsOn = {
  wall: [brown, grey, red],
  garden: [brown, grey, red, white],
  street: [brown, red, white],
  dusk: [white, grey],
};
/** @type {readonly BackgroundKind[]} */
const backgrounds = ['wall', 'garden', 'street', 'dusk'];
/** @type {readonly SceneSpec['group'][]} */
const groups = ['solid', 'creature', 'soft', 'hair', 'holes', 'thin', 'translucent'];

/**
 * What the set holds: every shape over every background, at a megapixel and some at four; or,
 * small, every shape once.
 * @returns {SceneSpec[]}
 */
export function sceneList({ small = false } = {}) {
  if (small) {
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

/**
 * @param {SceneSpec} spec
 * @returns {Promise<Scene & { foreground: Uint8Array }>}
 */
export async function makeScene({ group, background: kind, seed, width, height }) {
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

/**
 * What the camera sees of a foreground before a background, RGB.
 * @param {Uint8Array} alpha
 * @param {Uint8Array} foreground
 * @param {Uint8Array} behind
 */
export function composite(alpha, foreground, behind) {
  const mixed = new Uint8Array(foreground.length);
  for (const [i, value] of alpha.entries()) {
    const a = value / 255;
    for (let c = i * 3; c < i * 3 + 3; c++) {
      mixed[c] = Math.round(a * (foreground[c] ?? 0) + (1 - a) * (behind[c] ?? 0));
    }
  }
  return mixed;
}
