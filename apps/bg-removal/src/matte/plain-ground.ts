/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Rectangle } from '../images/output.js';
import type { RgbaImage } from '../images/rgba-image.js';
import type { Colour, Surroundings } from './surroundings.js';

/** Samples of the image's shorter side. */
const mostSamples = 1024;
/** Width of the border that must be plain, as a share of the shorter side. */
const borderShare = 0.005;
/** Largest difference of a channel, in levels of 255, between the ground and its colour. */
const sameColour = 16;
/** A larger difference is the subject's; JPEG noise is smaller. */
const otherColour = 28;

/** Three sides must be plain, this share of each. The subject may cover the fourth … */
const plainSide = 0.9;
const leastPlainSides = 3;
/** … and more of the three if all corners are plain. */
const touchedSide = 0.75;
/** Side of a corner, as a share of the shorter side. */
const cornerShare = 0.02;

/** A row or column belongs to the subject if more than this share of it differs. */
const leastContent = 0.003;
/** Less room beside the subject, as a share of its longer side, is too little for the network … */
const leastRoom = 0.12;
/** … which then sees this much. */
const room = 0.25;
/** A subject that covers this much of every edge of its box is a framed picture. */
const framed = 0.9;

/**
 * What to show around an opaque image whose subject comes close to its border on a plain ground, as
 * in product photographs: the network takes subjects without room around them for the background.
 * Thresholds were chosen on stickers over plain colours; see docs/internals/decisions-bg-removal.md.
 * @returns undefined if the ground isn't plain or the subject has enough room
 */
export function plainSurroundings(image: RgbaImage): Surroundings | undefined {
  const samples = new Samples(image);
  const colour = groundColour(samples);
  if (colour === undefined || !isPlain(samples, colour)) return undefined;
  const box = subjectBox(samples, colour);
  const longer = Math.max(box.width, box.height);
  const free = {
    left: box.left,
    right: samples.width - box.left - box.width,
    top: box.top,
    bottom: samples.height - box.top - box.height,
  };
  if (Math.min(...Object.values(free)) >= Math.round(leastRoom * longer)) return undefined;
  if (isFramed(samples, colour, box)) return undefined;
  const missing = (have: number): number => Math.max(0, Math.round(room * longer) - have) * samples.step;
  return {
    left: missing(free.left),
    right: missing(free.right),
    top: missing(free.top),
    bottom: missing(free.bottom),
    colour: [Math.round(colour[0]), Math.round(colour[1]), Math.round(colour[2])],
  };
}

/** Every `step`-th pixel of every `step`-th row. */
class Samples {
  readonly step: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly #stride: number;

  constructor({ width, height, data }: RgbaImage) {
    this.step = Math.max(1, Math.floor(Math.min(width, height) / mostSamples));
    this.width = Math.floor((width - 1) / this.step) + 1;
    this.height = Math.floor((height - 1) / this.step) + 1;
    this.data = data;
    this.#stride = width;
  }

  get shorterSide(): number {
    return Math.min(this.width, this.height);
  }

  /** @param use gets the index of each sample's red value */
  forEach({ left, top, width, height }: Rectangle, use: (at: number) => void): void {
    for (let y = top; y < top + height; y++) {
      const row = y * this.step * this.#stride;
      for (let x = left; x < left + width; x++) use((row + x * this.step) * 4);
    }
  }

  /** Share of an area's samples with a channel that differs by more than `limit` from the colour's. */
  shareOfOthers(area: Rectangle, [red, green, blue]: Colour, limit: number): number {
    const { data } = this;
    let others = 0;
    this.forEach(area, (at) => {
      const isOther =
        Math.abs(data[at]! - red) > limit ||
        Math.abs(data[at + 1]! - green) > limit ||
        Math.abs(data[at + 2]! - blue) > limit;
      if (isOther) others++;
    });
    return others / (area.width * area.height);
  }
}

/** Left, right, top and bottom. */
function sidesOf({ width, height }: Samples, depth: number): readonly Rectangle[] {
  return [
    { left: 0, top: 0, width: depth, height },
    { left: width - depth, top: 0, width: depth, height },
    { left: 0, top: 0, width, height: depth },
    { left: 0, top: height - depth, width, height: depth },
  ];
}

function borderOf(samples: Samples): readonly Rectangle[] {
  return sidesOf(samples, Math.max(1, Math.round(borderShare * samples.shorterSide)));
}

/** The most frequent colour of the border, from a histogram of sixteen levels per channel. */
function groundColour(samples: Samples): Colour | undefined {
  const { data } = samples;
  const border = borderOf(samples);
  const counts = new Uint32Array(16 ** 3);
  const forBorder = (use: (at: number) => void): void => {
    for (const side of border) samples.forEach(side, use);
  };
  forBorder((at) => counts[((data[at]! >> 4) << 8) | ((data[at + 1]! >> 4) << 4) | (data[at + 2]! >> 4)]!++);
  const cell = counts.indexOf(Math.max(...counts));
  let colour = [cell >> 8, (cell >> 4) & 15, cell & 15].map((level) => level * 16 + 8);
  // The mean of what is near it, then of what is near that.
  for (let pass = 0; pass < 2; pass++) {
    const sum = [0, 0, 0];
    let count = 0;
    forBorder((at) => {
      if (colour.some((level, c) => Math.abs(data[at + c]! - level) > sameColour)) return;
      for (let c = 0; c < 3; c++) sum[c]! += data[at + c]!;
      count++;
    });
    if (count === 0) return undefined;
    colour = sum.map((total) => total / count);
  }
  const [red = 0, green = 0, blue = 0] = colour;
  return [red, green, blue];
}

function isPlain(samples: Samples, colour: Colour): boolean {
  const isGround = (area: Rectangle, share: number): boolean =>
    samples.shareOfOthers(area, colour, sameColour) <= 1 - share;
  const border = borderOf(samples);
  const hasPlainSides = (share: number): boolean =>
    border.filter((side) => isGround(side, share)).length >= leastPlainSides;
  if (hasPlainSides(plainSide)) return true;
  if (!hasPlainSides(touchedSide)) return false;
  const side = Math.min(samples.shorterSide, Math.max(2, Math.round(cornerShare * samples.shorterSide)));
  return [0, samples.width - side].every((left) =>
    [0, samples.height - side].every((top) => isGround({ left, top, width: side, height: side }, plainSide)),
  );
}

/** The box of the rows and columns that differ from the ground; in the middle if none does. */
function subjectBox(samples: Samples, colour: Colour): Rectangle {
  const { width, height } = samples;
  const column = (x: number): Rectangle => ({ left: x, top: 0, width: 1, height });
  const row = (y: number): Rectangle => ({ left: 0, top: y, width, height: 1 });
  const free = (size: number, line: (at: number) => Rectangle): number => {
    for (let at = 0; at < size >> 1; at++) {
      if (samples.shareOfOthers(line(at), colour, otherColour) > leastContent) return at;
    }
    return size >> 1;
  };
  const [left, right] = [free(width, column), free(width, (at) => column(width - 1 - at))];
  const [top, bottom] = [free(height, row), free(height, (at) => row(height - 1 - at))];
  return { left, top, width: width - left - right, height: height - top - bottom };
}

/** Whether the subject covers all edges of its box. We look a little inside them, because soft edges begin early. */
function isFramed(samples: Samples, colour: Colour, { left, top, width, height }: Rectangle): boolean {
  const inset = 2;
  const [lastColumn, lastRow] = [samples.width - 1, samples.height - 1];
  const edges: readonly Rectangle[] = [
    { left: Math.min(lastColumn, left + inset), top, width: 1, height },
    { left: Math.max(0, left + width - 1 - inset), top, width: 1, height },
    { left, top: Math.min(lastRow, top + inset), width, height: 1 },
    { left, top: Math.max(0, top + height - 1 - inset), width, height: 1 },
  ];
  return edges.every((edge) => samples.shareOfOthers(edge, colour, otherColour) >= framed);
}
