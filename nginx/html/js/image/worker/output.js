/** @typedef {import('./frame.js').Image} Image */
/** @typedef {{ colour?: string, picture?: Blob }} Background neither: transparent */

/**
 * Finishes an image: mask or shadow, and what is behind it. May change the image in place.
 * @param {Image} image @param {Background} background
 * @param {{ shadow: boolean, mask: boolean }} options
 * @returns the image and whether it is opaque
 */
export async function finished(image, background, { shadow, mask }) {
  if (mask) return { image: toMask(image), isOpaque: true };
  const result = shadow ? await withShadow(image) : image;
  if (background.colour !== undefined) putOnColour(result, background.colour);
  if (background.picture !== undefined) putOnPixels(result, await covering(background.picture, result));
  return { image: result, isOpaque: background.colour !== undefined || background.picture !== undefined };
}

/** Converts to an opaque grey image of the mask, in place. */
function toMask(/** @type {Image} */ image) {
  const { data } = image;
  for (let at = 0; at < data.length; at += 4) {
    data[at] = data[at + 1] = data[at + 2] = data[at + 3];
    data[at + 3] = 255;
  }
  return image;
}

/** Adds a soft shadow below the subject; returns a new image. */
async function withShadow(/** @type {Image} */ { data, width, height }) {
  const bitmap = await createImageBitmap(new ImageData(data, width, height));
  const context = contextOf(width, height);
  const side = Math.min(width, height);
  context.shadowColor = 'rgb(0 0 0 / 45%)';
  context.shadowBlur = side * 0.03;
  context.shadowOffsetY = side * 0.015;
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}

/** The pixels of a picture that covers an area, cropped if necessary. */
async function covering(
  /** @type {Blob} */ picture,
  /** @type {{ width: number, height: number }} */ { width, height },
) {
  const bitmap = await createImageBitmap(picture);
  const scale = Math.max(width / bitmap.width, height / bitmap.height);
  const [w, h] = [bitmap.width * scale, bitmap.height * scale];
  const context = contextOf(width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, (width - w) / 2, (height - h) / 2, w, h);
  bitmap.close();
  return context.getImageData(0, 0, width, height).data;
}

/** Encodes an image as WebP or JPEG with the browser's encoder. */
export async function encodeByCanvas(
  /** @type {Image} */ { data, width, height },
  /** @type {string} */ type,
) {
  const context = contextOf(width, height);
  context.putImageData(new ImageData(data, width, height), 0, 0);
  return context.canvas.convertToBlob({ type, quality: 0.92 });
}

export function contextOf(/** @type {number} */ width, /** @type {number} */ height) {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('This browser can’t draw so large an image');
  return context;
}

/** Composites an image with straight alpha over a colour, `#rrggbb`, in place. */
function putOnColour(/** @type {Image} */ { data }, /** @type {string} */ colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  for (let at = 0; at < data.length; at += 4) blend(data, at, red, green, blue);
}

/** Composites an image with straight alpha over an opaque RGBA image of the same size, in place. */
function putOnPixels(/** @type {Image} */ { data }, /** @type {Uint8ClampedArray} */ behind) {
  for (let at = 0; at < data.length; at += 4) blend(data, at, behind[at], behind[at + 1], behind[at + 2]);
}

/**
 * @param {Uint8ClampedArray} data @param {number} at @param {number} red @param {number} green
 * @param {number} blue
 */
function blend(data, at, red, green, blue) {
  const alpha = data[at + 3] / 255;
  data[at] = red + (data[at] - red) * alpha;
  data[at + 1] = green + (data[at + 1] - green) * alpha;
  data[at + 2] = blue + (data[at + 2] - blue) * alpha;
  data[at + 3] = 255;
}
