/** @typedef {{ left: number, top: number, width: number, height: number }} Rectangle */
/** @typedef {'original' | 'subject' | 'square' | 'portrait' | 'passport' | 'shop'} Shape */
/** @typedef {{ data: Uint8ClampedArray<ArrayBuffer>, width: number, height: number }} Image RGBA with straight alpha */

/** Alpha below this is invisible and ignored when framing. */
const visibleAlpha = 8;
/** Width ÷ height; undefined follows the subject. @type {Partial<Record<Shape, number>>} */
const ratios = { square: 1, portrait: 4 / 5, passport: 35 / 45, shop: 1 };
/** Marketplaces ask for a subject that fills 85 % of the picture. */
const shopMargin = (1 / 0.85 - 1) / 2;

/**
 * The part of the image that is saved, in pixels of the whole image. It may reach beyond it.
 * @param {Image} small the tuned cut-out, scaled down by `step`
 * @param {number} step @param {{ width: number, height: number }} whole @param {Shape} shape
 * @param {number} margin around the subject, as a share of its longer side
 * @returns {Rectangle}
 */
export function frameOf(small, step, whole, shape, margin) {
  const all = { left: 0, top: 0, width: whole.width, height: whole.height };
  const box = shape === 'original' ? undefined : subjectBox(small);
  if (box === undefined) return all;
  const left = box.left * step;
  const top = box.top * step;
  // The small image lacks the last rows and columns that fill no whole step.
  const right = box.right + 1 === small.width ? whole.width : (box.right + 1) * step;
  const bottom = box.bottom + 1 === small.height ? whole.height : (box.bottom + 1) * step;
  const room = Math.max(right - left, bottom - top) * (shape === 'shop' ? shopMargin : margin);
  // A subject that the image cuts off below, as in a portrait, stands on the edge of its frame.
  const isCutOff = bottom === whole.height && shape !== 'shop';
  const least = { width: right - left + 2 * room, height: bottom - top + (isCutOff ? 1 : 2) * room };
  const ratio = ratios[shape] ?? least.width / least.height;
  const width = Math.round(Math.max(least.width, least.height * ratio));
  const height = Math.round(Math.max(least.height, least.width / ratio));
  return {
    left: Math.round((left + right - width) / 2),
    top: isCutOff ? whole.height - height : Math.round((top + bottom - height) / 2),
    width,
    height,
  };
}

/** Cuts out a part, which may reach beyond the image; returns the same image if it is all of it. */
export function framed(/** @type {Image} */ image, /** @type {Rectangle} */ { left, top, width, height }) {
  if (left === 0 && top === 0 && width === image.width && height === image.height) return image;
  const data = new Uint8ClampedArray(width * height * 4);
  const firstColumn = Math.max(0, left);
  const columns = Math.min(image.width, left + width) - firstColumn;
  for (let y = Math.max(0, top); y < Math.min(image.height, top + height); y++) {
    const from = (y * image.width + firstColumn) * 4;
    data.set(image.data.subarray(from, from + columns * 4), ((y - top) * width + firstColumn - left) * 4);
  }
  return { data, width, height };
}

function subjectBox(/** @type {Image} */ { data, width, height }) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0, at = 3; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      if ((data[at] ?? 0) < visibleAlpha) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  return right < 0 ? undefined : { left, top, right, bottom };
}
