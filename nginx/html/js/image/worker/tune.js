import { featherMatte } from './matte/feather.js';
import { tuneMatte } from './matte/tuning.js';
import { spreadColours } from './spread-colours.js';

/**
 * Tunes an untuned cut-out with the service's own code: strength, threshold, feather
 * (docs/internals/decisions.md, "The page tunes the matte itself").
 * @param image `{ data, width, height }`, RGBA with straight alpha; unchanged
 * @param tuning threshold 0-255, feather in pixels of this image, foreground_strength 0.5-2
 */
export function tune({ data, width, height }, { threshold, feather: featherPixels, foreground_strength }) {
  const count = width * height;
  const alpha = new Uint8Array(count);
  for (let at = 0; at < count; at++) alpha[at] = data[at * 4 + 3];
  const tunedAlpha = tuneMatte(alpha, { threshold, foregroundStrength: foreground_strength });
  const visible = featherMatte(tunedAlpha, width, height, featherPixels);
  const tuned = new Uint8ClampedArray(data);
  if (featherPixels > 0) spreadColours(tuned, visible, width, height);
  const words = new Uint32Array(tuned.buffer);
  // Little-endian, as every machine with a browser is: alpha is the highest byte.
  for (let at = 0; at < count; at++) {
    words[at] = visible[at] === 0 ? 0 : ((words[at] & 0xffffff) | (visible[at] << 24)) >>> 0;
  }
  return { data: tuned, width, height };
}
