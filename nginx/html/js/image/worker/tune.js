import { featherMatte } from './feather.js';
import { defaultTuning, neutralTuning, tuningTable } from './matte/tuning.js';

/** @typedef {import('./frame.js').Image} Image */

/**
 * Tunes an untuned cut-out as the service does: strength, threshold, feather
 * (docs/internals/decisions.md, "The page tunes the matte itself").
 * @param {Image} image `{ data, width, height }`, RGBA with straight alpha; unchanged
 * @param {import('./cut-out-worker.js').Tuning} tuning threshold 0-255, feather in pixels of this image, foreground_strength 0.5-2
 */
export function tune({ data, width, height }, { threshold, feather: featherPixels, foreground_strength }) {
  const count = width * height;
  const table = tuningTable({ threshold, feather: featherPixels, foregroundStrength: foreground_strength });
  const tunedAlpha = new Uint8Array(count);
  for (let at = 0; at < count; at++) tunedAlpha[at] = table[data[at * 4 + 3]];
  const visible = featherMatte(tunedAlpha, width, height, featherPixels);
  const tuned = new Uint8ClampedArray(data);
  if (featherPixels > 0) spreadColours(tuned, visible, width, height);
  const words = new Uint32Array(tuned.buffer);
  // Machines with browsers are little-endian, so alpha is the highest byte.
  for (let at = 0; at < count; at++) {
    words[at] = visible[at] === 0 ? 0 : ((words[at] & 0xffffff) | (visible[at] << 24)) >>> 0;
  }
  return { data: tuned, width, height };
}

/**
 * What is left of a tuning for a cut-out that already has the default one: values that differ from it.
 * @param {import('./cut-out-worker.js').Tuning} tuning
 */
export function changesOf({ threshold, feather, foreground_strength }) {
  return {
    threshold: threshold === defaultTuning.threshold ? neutralTuning.threshold : threshold,
    feather: feather === defaultTuning.feather ? neutralTuning.feather : feather,
    // Its default is neutral.
    foreground_strength,
  };
}

/**
 * Fills in colours for pixels that a soft edge makes visible, because the service erases the
 * colours of invisible pixels. Ring by ring outwards, each pixel gets the mean of its
 * neighbours with a colour.
 * @param {Uint8ClampedArray<ArrayBuffer>} data RGBA of the untuned cut-out, where alpha 0 means no colour; modified in place
 * @param {Uint8Array} visible the alpha that the pixels will have
 * @param {number} width @param {number} height
 */
function spreadColours(data, visible, width, height) {
  const known = new Uint8Array(visible.length);
  for (let at = 0; at < known.length; at++) known[at] = data[at * 4 + 3] === 0 ? 0 : 1;
  let ring = [];
  for (let at = 0; at < known.length; at++) if (known[at] === 0 && visible[at] !== 0) ring.push(at);
  while (ring.length > 0) {
    const reached = [];
    const later = [];
    for (const at of ring) {
      if (takeMean(data, known, at, width, height)) reached.push(at);
      else later.push(at);
    }
    if (reached.length === 0) return;
    for (const at of reached) known[at] = 1;
    ring = later;
  }
}

/**
 * @returns false if no neighbour has a colour yet
 * @param {Uint8ClampedArray<ArrayBuffer>} data @param {Uint8Array} known @param {number} at
 * @param {number} width @param {number} height
 */
function takeMean(data, known, at, width, height) {
  const x = at % width;
  const y = (at - x) / width;
  let red = 0;
  let green = 0;
  let blue = 0;
  let count = 0;
  for (let ny = Math.max(0, y - 1); ny <= Math.min(height - 1, y + 1); ny++) {
    for (let nx = Math.max(0, x - 1); nx <= Math.min(width - 1, x + 1); nx++) {
      const neighbour = ny * width + nx;
      if (known[neighbour] === 0) continue;
      red += data[neighbour * 4];
      green += data[neighbour * 4 + 1];
      blue += data[neighbour * 4 + 2];
      count++;
    }
  }
  if (count === 0) return false;
  data[at * 4] = red / count;
  data[at * 4 + 1] = green / count;
  data[at * 4 + 2] = blue / count;
  return true;
}

/**
 * Averages every square of `step` pixels (colours weighted by alpha). RGBA with straight alpha.
 * @param {Image} image @param {number} step
 */
export function scaleDown(image, step) {
  if (step === 1) return image;
  const width = Math.max(1, Math.floor(image.width / step));
  const height = Math.max(1, Math.floor(image.height / step));
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let red = 0;
      let green = 0;
      let blue = 0;
      let alpha = 0;
      for (let row = y * step; row < (y + 1) * step && row < image.height; row++) {
        const from = (row * image.width + x * step) * 4;
        for (let at = from; at < from + step * 4; at += 4) {
          const weight = image.data[at + 3];
          red += image.data[at] * weight;
          green += image.data[at + 1] * weight;
          blue += image.data[at + 2] * weight;
          alpha += weight;
        }
      }
      if (alpha === 0) continue;
      const at = (y * width + x) * 4;
      data[at] = red / alpha;
      data[at + 1] = green / alpha;
      data[at + 2] = blue / alpha;
      // Round up, so that faint pixels stay visible.
      data[at + 3] = Math.ceil(alpha / (step * step));
    }
  }
  return { data, width, height };
}
