/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Rectangle } from '../images/output.js';
import { neutralGrey, type RgbaImage } from '../images/rgba-image.js';
import type { Plane } from './plane.js';
import type { Surroundings } from './surroundings.js';

/** Samples per side of an outline. */
const side = 256;
const allSamples = side * side;
/** A pixel is visible from half its opacity on. */
const halfOpaque = 128;

/** The ring of the box that is mostly transparent around most subjects, as a share of its shorter side, in samples. */
const ring = Math.round(0.01 * side);
const leastTransparentRing = 0.5;
/** A shape this close to an ellipse (intersection over union) is a frame rather than a subject. */
const ellipse = 0.98;
/** The same of a shape that fills its box and its mirror images: cards and rounded corners look like these. */
const mirrored = 0.97;
/** The transparent room on each side of a box that its subject fills, as a share of the box's shorter side. */
const leastRoom = 0.01;

/** Room that the network sees around the box, as a share of each of its sides. */
const roomAround = 0.3;
/** The outline: visible samples further from transparent ones than `from`, and not further than `to`. */
const outline = { from: 2, to: 5 } as const;
/** The network may take this share of the outline for background; its edges are seldom exactly the file's. */
const mostRejectedOutline = 0.35;
/**
 * An edge is drawn if the distance from it explains more than this share of the colours' variance
 * near it. A photograph's colours don't follow a crop.
 */
const drawnEdge = 0.1;
/** Less variance, summed over the channels, can't be seen. */
const leastVariance = 100;

/** A part of which the network rejects this share goes … */
const rejectedPart = 0.9;
/** … unless it is more than this share of the visible samples, or less than that. */
const largestRejectedPart = 0.5;
const smallestRejectedPart = 0.002;
/** Samples by which a rejected part grows, because its edge is soft. */
const partMargin = 2;

/** The visible part of an image whose background is already removed, if the network agrees. */
export interface Outline {
  readonly box: Rectangle;
  /** 1 where a sample of the box is visible. */
  readonly visible: Uint8Array;
}

/**
 * The outline of an image's own alpha; undefined if it can't be a subject's, as for rounded corners,
 * an oval crop or an image that is transparent on one side only.
 */
export function cutOutOutline(image: RgbaImage): Outline | undefined {
  const box = visibleBox(image);
  if (box === undefined) return undefined;
  const visible = new Uint8Array(allSamples);
  forEachSample((x, y, at) => {
    if (image.data[pixelOf(image, box, x, y) + 3]! >= halfOpaque) visible[at] = 1;
  });
  const canBeSubject = hasTransparentRing(visible)
    ? !isEllipse(visible)
    : hasRoom(image, box) && !isMirrored(visible);
  return canBeSubject ? { box, visible } : undefined;
}

/** What the network sees around an outline. */
export function greySurroundings({ box: { width, height } }: Outline): Surroundings {
  const [across, down] = [width * roomAround, height * roomAround];
  const colour = [neutralGrey, neutralGrey, neutralGrey] as const;
  return { left: across, right: across, top: down, bottom: down, colour };
}

/**
 * Whether the network takes an outline for the subject's, or the outline is drawn: in drawings, the
 * network often takes the lines for the subject and what they enclose for the background.
 * @param mask of the outline's box, 0-1
 * @returns the samples to remove, 1 each, because the network rejects the whole part they belong to;
 *   undefined if the outline isn't the subject's
 */
export function rejectedSamples(image: RgbaImage, shape: Outline, mask: Plane): Uint8Array | undefined {
  const { visible } = shape;
  const rejected = new Uint8Array(allSamples);
  forEachSample((x, y, at) => {
    const column = Math.floor(((x + 0.5) / side) * mask.width);
    const row = Math.floor(((y + 0.5) / side) * mask.height);
    if (visible[at] === 1 && mask.data[row * mask.width + column]! < 0.5) rejected[at] = 1;
  });
  const isNear = transparentWithin(visible, outline.from);
  const isOutline = transparentWithin(visible, outline.to).map(
    (near, at) => near & visible[at]! & (1 - isNear[at]!),
  );
  // Lines and letters are too thin to have samples inside their edge.
  const edge = isOutline.includes(1) ? isOutline : visible;
  const share = count(edge.map((is, at) => is & rejected[at]!)) / count(edge);
  return share <= mostRejectedOutline || isDrawn(image, shape) ? rejectedParts(visible, rejected) : undefined;
}

function isDrawn(image: RgbaImage, { box, visible }: Outline): boolean {
  const depths = new Uint8Array(allSamples);
  for (let depth: number = outline.to; depth > 0; depth--) {
    const isNear = transparentWithin(visible, depth);
    for (let at = 0; at < allSamples; at++) if (visible[at]! & isNear[at]!) depths[at] = depth;
  }
  const samples = count(depths.map((depth) => (depth === 0 ? 0 : 1)));
  let [variance, explained] = [0, 0];
  for (let channel = 0; channel < 3; channel++) {
    const sums = Array.from({ length: outline.to + 1 }, () => ({ count: 0, sum: 0 }));
    let squares = 0;
    forEachSample((x, y, at) => {
      if (depths[at] === 0) return;
      const value = image.data[pixelOf(image, box, x, y) + channel]!;
      const depth = sums[depths[at]!]!;
      depth.count++;
      depth.sum += value;
      squares += value ** 2;
    });
    const all = sums.reduce(({ count, sum }, next) => ({ count: count + next.count, sum: sum + next.sum }));
    const meanSquares = all.sum ** 2 / all.count;
    variance += squares - meanSquares;
    explained += sums.reduce((total, { count, sum }) => total + (count && sum ** 2 / count), 0) - meanSquares;
  }
  return explained > Math.max(drawnEdge * variance, leastVariance * samples);
}

/** The index in the data of the pixel that a sample of a box shows. */
function pixelOf({ width }: RgbaImage, box: Rectangle, x: number, y: number): number {
  const column = box.left + Math.floor(((x + 0.5) / side) * box.width);
  const row = box.top + Math.floor(((y + 0.5) / side) * box.height);
  return (row * width + column) * 4;
}

function forEachSample(use: (x: number, y: number, at: number) => void): void {
  for (let y = 0, at = 0; y < side; y++) for (let x = 0; x < side; x++, at++) use(x, y, at);
}

function count(flags: Uint8Array): number {
  return flags.reduce((sum, flag) => sum + flag, 0);
}

function visibleBox({ width, height, data }: RgbaImage): Rectangle | undefined {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0; y < height; y++) {
    const row = y * width * 4 + 3;
    let first = 0;
    while (first < width && data[row + first * 4]! < halfOpaque) first++;
    if (first === width) continue;
    let last = width - 1;
    while (data[row + last * 4]! < halfOpaque) last--;
    left = Math.min(left, first);
    right = Math.max(right, last);
    if (top === height) top = y;
    bottom = y;
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

function hasTransparentRing(visible: Uint8Array): boolean {
  let [all, transparent] = [0, 0];
  forEachSample((x, y, at) => {
    if (Math.min(x, y, side - 1 - x, side - 1 - y) >= ring) return;
    all++;
    if (visible[at] === 0) transparent++;
  });
  return transparent >= leastTransparentRing * all;
}

/** Half of an image whose background is removed only there has none, nor has a photograph with a cut corner. */
function hasRoom({ width, height }: RgbaImage, box: Rectangle): boolean {
  const room = leastRoom * Math.min(box.width, box.height);
  const [right, bottom] = [width - box.left - box.width, height - box.top - box.height];
  return Math.min(box.left, box.top, right, bottom) >= room;
}

/** Whether a shape is the same from left to right and from top to bottom. */
function isMirrored(visible: Uint8Array): boolean {
  const isLike = (positionOf: (x: number, y: number) => number): boolean => {
    let [both, either] = [0, 0];
    forEachSample((x, y, at) => {
      const other = visible[positionOf(x, y)]!;
      both += visible[at]! & other;
      either += visible[at]! | other;
    });
    return both >= mirrored * either;
  };
  return isLike((x, y) => y * side + side - 1 - x) && isLike((x, y) => (side - 1 - y) * side + x);
}

function isEllipse(visible: Uint8Array): boolean {
  let [both, either] = [0, 0];
  forEachSample((x, y, at) => {
    const isInside = Math.hypot((x + 0.5) / side - 0.5, (y + 0.5) / side - 0.5) <= 0.5;
    if (isInside && visible[at] === 1) both++;
    if (isInside || visible[at] === 1) either++;
  });
  return both >= ellipse * either;
}

/** 1 where a transparent sample is within a distance across and down. Beyond the box, nothing is. */
function transparentWithin(visible: Uint8Array, distance: number): Uint8Array {
  return grown(
    visible.map((is) => 1 - is),
    distance,
  );
}

/** Each sample gets the greatest of its square neighbourhood. */
function grown(flags: Uint8Array, distance: number): Uint8Array {
  const greatest = (source: Uint8Array, step: number, positionOf: (at: number) => number): Uint8Array =>
    source.map((_, at) => {
      const position = positionOf(at);
      for (let k = Math.max(-distance, -position); k <= Math.min(distance, side - 1 - position); k++) {
        if (source[at + k * step] === 1) return 1;
      }
      return 0;
    });
  const rows = greatest(flags, 1, (at) => at % side);
  return greatest(rows, side, (at) => Math.floor(at / side));
}

/** The connected parts that the network rejects almost completely, grown into the transparency around them. */
function rejectedParts(visible: Uint8Array, rejected: Uint8Array): Uint8Array {
  const all = count(visible);
  const found = new Uint8Array(allSamples);
  const isKnown = new Uint8Array(allSamples);
  for (let start = 0; start < allSamples; start++) {
    if (visible[start] === 0 || isKnown[start] === 1) continue;
    const part = connectedTo(start, visible, isKnown);
    if (part.length > largestRejectedPart * all || part.length < smallestRejectedPart * all) continue;
    const rejectedCount = part.reduce((sum, at) => sum + rejected[at]!, 0);
    if (rejectedCount >= rejectedPart * part.length) for (const at of part) found[at] = 1;
  }
  // Others that are close stay whole.
  return grown(found, partMargin).map((is, at) => (visible[at] === 1 ? found[at]! : is));
}

/** The visible samples that neighbours connect to one of them. */
function connectedTo(start: number, visible: Uint8Array, isKnown: Uint8Array): number[] {
  const part = [start];
  isKnown[start] = 1;
  for (const at of part) {
    const x = at % side;
    const neighbours = [at - side, at + side, ...(x > 0 ? [at - 1] : []), ...(x < side - 1 ? [at + 1] : [])];
    for (const next of neighbours) {
      if (visible[next] !== 1 || isKnown[next] === 1) continue;
      isKnown[next] = 1;
      part.push(next);
    }
  }
  return part;
}

/** The sample of an outline's box that a pixel belongs to, or the nearest one. */
export function sampleOf({ left, top, width, height }: Rectangle, x: number, y: number): number {
  const place = (share: number): number => Math.min(side - 1, Math.max(0, Math.floor(share * side)));
  return place((y - top + 0.5) / height) * side + place((x - left + 0.5) / width);
}
