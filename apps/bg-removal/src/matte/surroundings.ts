import type { Rectangle } from '../images/output.js';
import type { Plane } from './plane.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

export type Colour = readonly [red: number, green: number, blue: number];

/** Plain colour that the network sees beyond the sides of an area, in pixels of the image. */
export interface Surroundings {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly colour: Colour;
}

/** Shows the network an area, with surroundings if any, and returns its mask of the area alone, 0-1. */
export type Look = (area: Rectangle, around?: Surroundings) => Promise<Plane>;

/**
 * @param view renders an area of the image as interleaved RGB of a given size
 * @param network takes a view of the input size and returns its mask, of any size
 */
export function createLook(
  inputSize: Size,
  view: (area: Rectangle, size: Size) => Uint8Array | Promise<Uint8Array>,
  network: (rgb: Uint8Array) => Plane | Promise<Plane>,
): Look {
  return async (area, around) => {
    if (around === undefined) return network(await view(area, inputSize));
    const place = placeOf(area, around, inputSize);
    const seen = surrounded(await view(area, place), place, around.colour, inputSize);
    return partOf(await network(seen), place, inputSize);
  };
}

/** Where an area lies in the network's view of it and its surroundings. */
function placeOf(area: Size, around: Surroundings, { width, height }: Size): Rectangle {
  const acrossScale = width / (area.width + around.left + around.right);
  const downScale = height / (area.height + around.top + around.bottom);
  const [left, top] = [Math.round(around.left * acrossScale), Math.round(around.top * downScale)];
  return {
    left,
    top,
    width: Math.max(1, width - left - Math.round(around.right * acrossScale)),
    height: Math.max(1, height - top - Math.round(around.bottom * downScale)),
  };
}

function surrounded(
  view: Uint8Array,
  place: Rectangle,
  colour: Colour,
  { width, height }: Size,
): Uint8Array<ArrayBuffer> {
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < rgb.length; i += 3) rgb.set(colour, i);
  for (let y = 0; y < place.height; y++) {
    const row = view.subarray(y * place.width * 3, (y + 1) * place.width * 3);
    rgb.set(row, ((place.top + y) * width + place.left) * 3);
  }
  return rgb;
}

/** @param place in a mask of the input size; scaled if the mask has another */
function partOf(mask: Plane, place: Rectangle, inputSize: Size): Plane {
  const [across, down] = [mask.width / inputSize.width, mask.height / inputSize.height];
  const [left, top] = [Math.round(place.left * across), Math.round(place.top * down)];
  const width = Math.max(1, Math.round((place.left + place.width) * across) - left);
  const height = Math.max(1, Math.round((place.top + place.height) * down) - top);
  const data = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    const first = (top + y) * mask.width + left;
    data.set(mask.data.subarray(first, first + width), y * width);
  }
  return { width, height, data };
}
