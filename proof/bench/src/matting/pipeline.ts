import type { RgbaImage } from '@media-services/bg-removal/dist/images/rgba-image.js';
import { cutOut, defaultSteps, type CutOutSteps } from '@media-services/bg-removal/dist/matte/cut-out.js';
import { featherMatte } from '@media-services/bg-removal/dist/matte/feather.js';
import { estimateForeground } from '@media-services/bg-removal/dist/matte/edge-colours.js';
import { cellColours, gridFor } from '@media-services/bg-removal/dist/matte/grid.js';
import type { FoundSubject } from '@media-services/bg-removal/dist/matte/find-subject.js';
import { keepOwnAlpha } from '@media-services/bg-removal/dist/matte/keep-own-alpha.js';
import { pictureOf, type Picture } from '@media-services/bg-removal/dist/matte/own-alpha.js';
import { estimateLayers } from '@media-services/bg-removal/dist/matte/layers.js';
import { createSharedMemory, TeamMember } from '@media-services/bg-removal/dist/matte/team-member.js';
import { tuneMatte } from '@media-services/bg-removal/dist/matte/tune-matte.js';
import { defaultTuning, neutralTuning, type Tuning } from '@media-services/bg-removal/dist/matte/tuning.js';

import type { Scene, Shot } from './scenes.js';

export interface CutOut {
  /** 0-255. */
  readonly alpha: Uint8Array;
  /** Straight colours. */
  readonly rgb: Uint8Array;
}

export interface Variant {
  readonly steps: CutOutSteps;
  readonly tuning: Tuning;
}

/** The variants; each adds one step to the previous one. */
export const variants = {
  bare: {
    steps: { decideWideAreas: false, refine: false, correctAlpha: false, estimateForeground: false },
    tuning: neutralTuning,
  },
  decided: {
    steps: { decideWideAreas: true, refine: false, correctAlpha: false, estimateForeground: false },
    tuning: neutralTuning,
  },
  refined: {
    steps: { ...defaultSteps, correctAlpha: false, estimateForeground: false },
    tuning: neutralTuning,
  },
  'refined + colour': { steps: { ...defaultSteps, correctAlpha: false }, tuning: neutralTuning },
  'refined + colour + alpha': { steps: defaultSteps, tuning: neutralTuning },
  'as served': { steps: defaultSteps, tuning: defaultTuning },
} satisfies Record<string, Variant>;

export function rgbaOf({ composite, own, width, height }: Shot): RgbaImage {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; to < data.length; from += 3, to += 4) {
    data.set(composite.subarray(from, from + 3), to);
    if (own !== undefined) data[to + 3] = own[to / 4] ?? 0;
  }
  return { width, height, data };
}

function split({ width, height, data }: RgbaImage): CutOut {
  const alpha = new Uint8Array(width * height);
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < alpha.length; i++) {
    rgb.set(data.subarray(i * 4, i * 4 + 3), i * 3);
    alpha[i] = data[i * 4 + 3] ?? 0;
  }
  return { alpha, rgb };
}

const memory = createSharedMemory(4 * 1024 ** 3);

/** A team of one thread; what the previous one had in memory is lost. */
export function alone(): TeamMember {
  memory.progress.fill(0);
  return new TeamMember(memory, 0);
}

/** The cut-out of a shot by one variant. The alpha of a finished cut-out stands, since no client sets anything. */
export function cutOutScene(shot: Shot, found: FoundSubject, { steps, tuning }: Variant): CutOut {
  const member = alone();
  const picture = pictureIn(member, shot);
  const { image } = picture;
  const area =
    found.kind === 'own-alpha'
      ? keepOwnAlpha(image, found, neutralTuning, member)
      : cutOut(picture, { ...found.mask, data: member.place(found.mask.data) }, tuning, steps, member);
  if (area === undefined) image.data.fill(0);
  return split(image);
}

/** A shot in the member's memory, as the service sees it. */
export function pictureIn(member: TeamMember, shot: Shot): Picture {
  const source = rgbaOf(shot);
  return pictureOf({ ...source, data: member.place(source.data) }, shot.own !== undefined, member);
}

/**
 * The exact matte with the colours of the image, or with those estimated from the exact matte:
 * tests the estimation alone.
 */
export function coloursFromTruth(scene: Scene, estimate: boolean): CutOut {
  const member = alone();
  const source = rgbaOf(scene);
  const image = { ...source, data: member.place(source.data) };
  const alpha = member.place(scene.alpha);
  const grid = gridFor(scene.width, scene.height);
  const layers = estimateLayers(image, alpha, grid, cellColours(image, grid, member), true, member);
  if (estimate) estimateForeground(image, alpha, grid, alpha, layers, member);
  return { alpha: scene.alpha, rgb: split(image).rgb };
}

/** The exact matte as threshold and feather make it by default. */
export function servedAlpha({ alpha, width, height }: Scene): Uint8Array {
  const member = alone();
  const tuned = tuneMatte(member.place(alpha), defaultTuning, member);
  return featherMatte(tuned, width, height, defaultTuning.feather, member).slice();
}
