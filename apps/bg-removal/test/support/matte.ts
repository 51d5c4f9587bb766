import type { Rectangle } from '../../src/images/output.js';
import type { RgbaImage } from '../../src/images/rgba-image.js';
import * as boxes from '../../src/matte/box-filter.js';
import * as cutOuts from '../../src/matte/cut-out.js';
import * as wideAreas from '../../src/matte/decide-wide-areas.js';
import * as feather from '../../src/matte/feather.js';
import * as edges from '../../src/matte/edge-colours.js';
import { cellColours, type Cells, type Grid } from '../../src/matte/grid.js';
import { estimateLayers } from '../../src/matte/layers.js';
import type { OwnAlpha } from '../../src/matte/find-subject.js';
import * as own from '../../src/matte/keep-own-alpha.js';
import * as views from '../../src/matte/model-view.js';
import { pictureOf } from '../../src/matte/own-alpha.js';
import type { Plane } from '../../src/matte/plane.js';
import * as stretch from '../../src/matte/stretch.js';
import { createSharedMemory, TeamMember } from '../../src/matte/team-member.js';
import * as tune from '../../src/matte/tune-matte.js';
import type { Tuning } from '../../src/matte/tuning.js';
import * as areas from '../../src/matte/visible-area.js';

/** Steps of the matte by one thread, on arrays outside of its memory. */

const shared = createSharedMemory(512 * 1024 ** 2);

/** A team of one; what the previous one had in memory is lost. */
function alone(): TeamMember {
  shared.progress.fill(0);
  return new TeamMember(shared, 0);
}

/** Changes an array as `work` changes its copy in the member's memory. */
function inMemory<T extends Uint8Array | Float32Array, R>(
  member: TeamMember,
  values: T,
  work: (copy: T) => R,
): R {
  const copy = member.place(values);
  const result = work(copy);
  values.set(copy);
  return result;
}

export function cutOut(
  image: RgbaImage,
  mask: Plane,
  tuning: Tuning,
  steps = cutOuts.defaultSteps,
): Rectangle | undefined {
  const member = alone();
  return inMemory(member, image.data, (data) => {
    const picture = pictureOf({ width: image.width, height: image.height, data }, true, member);
    return cutOuts.cutOut(picture, { ...mask, data: member.place(mask.data) }, tuning, steps, member);
  });
}

/** {@link own.keepOwnAlpha} by one thread. */
export function keepOwnAlpha(image: RgbaImage, found: OwnAlpha, tuning: Tuning): Rectangle | undefined {
  const member = alone();
  return inMemory(member, image.data, (data) => own.keepOwnAlpha({ ...image, data }, found, tuning, member));
}

/** The network's view of an image, or of an area. */
export function viewForModel(
  image: RgbaImage,
  width: number,
  height: number,
  area: Rectangle = { left: 0, top: 0, width: image.width, height: image.height },
): Uint8Array {
  const member = alone();
  const { seen } = pictureOf({ ...image, data: member.place(image.data) }, true, member);
  return views.viewForModel(seen, area, width, height, member).slice();
}

export function featherMatte(alpha: Uint8Array, width: number, height: number, width90: number): Uint8Array {
  const member = alone();
  return feather.featherMatte(member.place(alpha), width, height, width90, member).slice();
}

export function tuneMatte(alpha: Uint8Array, tuning: Tuning): Uint8Array {
  const member = alone();
  return tune.tuneMatte(member.place(alpha), tuning, member).slice();
}

export function stretchMask(mask: Plane): boolean {
  const member = alone();
  return inMemory(member, mask.data, (data) => stretch.stretchMask({ ...mask, data }, member));
}

export function boxFilterCells(cells: Cells, radius: number): void {
  const member = alone();
  inMemory(member, cells.data, (data) => boxes.boxFilterCells({ ...cells, data }, radius, member));
}

export function estimateForeground(image: RgbaImage, alpha: Uint8Array, grid: Grid): void {
  const member = alone();
  const matte = member.place(alpha);
  inMemory(member, image.data, (data) => {
    const copy = { ...image, data };
    const isOpaque = pictureOf(copy, true, member).seen === copy;
    const cells = cellColours(copy, grid, member);
    const layers = estimateLayers(copy, matte, grid, cells, isOpaque, member);
    edges.estimateForeground(copy, matte, grid, matte, layers, member);
  });
}

export function correctAlpha(image: RgbaImage, alpha: Uint8Array, grid: Grid): void {
  const member = alone();
  const copy = { ...image, data: member.place(image.data) };
  const isOpaque = pictureOf(copy, true, member).seen === copy;
  inMemory(member, alpha, (matte) => {
    const cells = cellColours(copy, grid, member);
    const layers = estimateLayers(copy, matte, grid, cells, isOpaque, member);
    edges.correctAlpha(copy, matte, grid, layers, member);
  });
}

export function decideWideAreas(mask: Plane): void {
  const member = alone();
  inMemory(member, mask.data, (data) => wideAreas.decideWideAreas({ ...mask, data }, member));
}

export function boxFilter(plane: Plane, radius: number): void {
  const member = alone();
  inMemory(member, plane.data, (data) => boxes.boxFilter({ ...plane, data }, radius, member));
}

export function visibleArea(image: RgbaImage): Rectangle | undefined {
  const member = alone();
  return areas.visibleArea({ ...image, data: member.place(image.data) }, member);
}
