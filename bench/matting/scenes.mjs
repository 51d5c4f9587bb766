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
 * @property {Uint8Array} foreground exact colours, RGB
 * @property {Uint8Array} composite what the camera would see, RGB
 */

const brown = [
  [150, 90, 40],
  [222, 170, 110],
];
const grey = [
  [60, 60, 66],
  [130, 126, 130],
];
const red = [
  [196, 60, 48],
  [235, 140, 90],
];
const white = [
  [225, 215, 200],
  [250, 246, 240],
];

/** Each background with the subjects that a person, too, would tell from it. */
const subjectsOn = {
  wall: [brown, grey, red],
  garden: [brown, grey, red, white],
  street: [brown, red, white],
  dusk: [white, grey],
};
const backgrounds = Object.keys(subjectsOn);

/** What the set holds: every shape over every background, at a megapixel and some at four. */
export function sceneList({ small = false } = {}) {
  const groups = Object.keys(shapes);
  if (small)
    return groups.map((group, i) => ({
      group,
      background: backgrounds[i % 4],
      seed: 101 + i,
      width: 720,
      height: 540,
    }));
  return groups.flatMap((group, i) =>
    backgrounds.map((kind, k) => ({
      group,
      background: kind,
      seed: 1 + i * 10 + k,
      ...(k === 3 ? { width: 2400, height: 1800 } : { width: 1200, height: 900 }),
    })),
  );
}

/** @returns {Promise<Scene>} */
export async function makeScene({ group, background: kind, seed, width, height }) {
  const random = seededRandom(seed);
  const { draw, blur } = shapes[group];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#000"/><g fill="#fff">${draw(random, width, height)}</g></svg>`;
  let matte = sharp(Buffer.from(svg)).removeAlpha().toColourspace('b-w');
  if (blur > 0) matte = matte.blur((blur * width) / 1200);
  const alpha = new Uint8Array(await matte.extractChannel(0).raw().toBuffer());
  const foreground = await texture(width, height, random, {
    colours: random.pick(subjectsOn[kind]),
    scale: 5,
  });
  const behind = await background(width, height, random, kind);
  const composite = new Uint8Array(foreground.length);
  for (let i = 0; i < alpha.length; i++) {
    const a = alpha[i] / 255;
    for (let c = i * 3; c < i * 3 + 3; c++)
      composite[c] = Math.round(a * foreground[c] + (1 - a) * behind[c]);
  }
  return { name: `${group}-${kind}-${width}`, group, width, height, alpha, foreground, composite };
}
