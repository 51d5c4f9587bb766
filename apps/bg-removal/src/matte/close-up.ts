/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Rectangle } from '../images/output.js';
import type { Plane } from './plane.js';
import { resample } from './resample.js';
import { foregroundFloor } from './stretch.js';

/** Only a subject whose box is at most this share of the image gets a close-up … */
const largestSubject = 0.2;
/** … and only if the close-up is at most this share of it: larger ones show the network little more. */
const largestCloseUp = 0.25;
/** Room on each side of the subject's box, as a share of its longer side. */
const room = 0.25;
/**
 * Least overlap (intersection over union) of the subjects in both masks. A network that takes
 * another thing for the subject in the close-up was wrong before, and the mean would be worse.
 */
const leastOverlap = 0.9;
/** The close-up counts less and less towards its border, over this share of its sides. */
const border = 0.1;
/** Probabilities closer to 0 and 1 are no more certain. */
const certain = 1e-4;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Shows the network a small subject again, larger. Where both masks agree on the subject, the mean
 * of their logits is the mask of its surroundings.
 * @param mask the network's output for the whole image, 0-1
 * @param look returns the network's output for a part of the image, given in pixels
 * @returns a mask of the whole image: `mask`, or one with up to twice its samples per side
 */
export async function withCloseUp(
  mask: Plane,
  image: Size,
  look: (area: Rectangle) => Promise<Plane>,
): Promise<Plane> {
  const area = closeUpArea(mask, image);
  return area === undefined ? mask : addCloseUp(mask, await look(area), area, image);
}

/** The surroundings of a small subject; undefined if there is no subject or it is not small. */
function closeUpArea(mask: Plane, image: Size): Rectangle | undefined {
  const box = boxOf(mask);
  if (box === undefined) return undefined;
  const [scaleX, scaleY] = [image.width / mask.width, image.height / mask.height];
  const [width, height] = [box.width * scaleX, box.height * scaleY];
  if (width * height > largestSubject * image.width * image.height) return undefined;
  const margin = room * Math.max(width, height);
  const left = Math.max(0, Math.floor(box.left * scaleX - margin));
  const top = Math.max(0, Math.floor(box.top * scaleY - margin));
  const right = Math.min(image.width, Math.ceil(box.left * scaleX + width + margin));
  const bottom = Math.min(image.height, Math.ceil(box.top * scaleY + height + margin));
  const area = { left, top, width: right - left, height: bottom - top };
  return area.width * area.height <= largestCloseUp * image.width * image.height ? area : undefined;
}

/** The box of everything that the network takes for foreground. */
function boxOf({ width, height, data }: Plane): Rectangle | undefined {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (data[i]! < foregroundFloor) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (top === height) top = y;
      bottom = y;
    }
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

function addCloseUp(mask: Plane, closeUp: Plane, area: Rectangle, image: Size): Plane {
  const width = Math.max(mask.width, Math.min(2 * mask.width, image.width));
  const height = Math.max(mask.height, Math.min(2 * mask.height, image.height));
  const result = resample({ ...mask, data: mask.data.slice() }, width, height);
  const [scaleX, scaleY] = [width / image.width, height / image.height];
  const [left, top] = [Math.round(area.left * scaleX), Math.round(area.top * scaleY)];
  const right = Math.round((area.left + area.width) * scaleX);
  const bottom = Math.round((area.top + area.height) * scaleY);
  const inside = resample(closeUp, right - left, bottom - top);
  if (overlap(result, inside, left, top) < leastOverlap) return mask;
  const across = shares(inside.width, left > 0, right < width);
  const down = shares(inside.height, top > 0, bottom < height);
  for (let y = 0, from = 0; y < inside.height; y++) {
    for (let x = 0, to = (top + y) * width + left; x < inside.width; x++, from++, to++) {
      const share = 0.5 * across[x]! * down[y]!;
      const first = logit(result.data[to]!);
      result.data[to] = 1 / (1 + Math.exp(-(first + share * (logit(inside.data[from]!) - first))));
    }
  }
  return result;
}

/** Of the foreground in `part`, which lies at `left` and `top` in `whole`. */
function overlap(whole: Plane, part: Plane, left: number, top: number): number {
  let [both, either] = [0, 0];
  for (let y = 0, from = 0; y < part.height; y++) {
    for (let x = 0, to = (top + y) * whole.width + left; x < part.width; x++, from++, to++) {
      const count = Number(part.data[from]! >= foregroundFloor) + Number(whole.data[to]! >= foregroundFloor);
      if (count === 2) both++;
      if (count > 0) either++;
    }
  }
  return both / either;
}

/** Rises from 0 at a border inside the image. */
function shares(size: number, hasStart: boolean, hasEnd: boolean): Float32Array {
  const ramp = Math.max(1, size * border);
  return Float32Array.from({ length: size }, (_, i) =>
    Math.min(1, hasStart ? (i + 0.5) / ramp : 1, hasEnd ? (size - i - 0.5) / ramp : 1),
  );
}

function logit(probability: number): number {
  const value = Math.min(1 - certain, Math.max(certain, probability));
  return Math.log(value / (1 - value));
}
