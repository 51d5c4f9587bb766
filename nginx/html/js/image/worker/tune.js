import { feather } from './feather.js';
import { spreadColours } from './spread-colours.js';

/**
 * Tunes an untuned cut-out as the service does: strength, threshold, feather, on
 * alpha values of eight bits (docs/decisions.md, "The page tunes the matte itself").
 * @param image `{ data, width, height }`, RGBA with straight alpha; it is left as it is
 * @param tuning threshold 0-255, feather in pixels of this image, foreground_strength 0.5-2
 */
export function tune({ data, width, height }, { threshold, feather: featherPixels, foreground_strength }) {
  const table = tuningTable(foreground_strength, threshold);
  const count = width * height;
  const alpha = new Uint8Array(count);
  for (let at = 0; at < count; at++) alpha[at] = table[data[at * 4 + 3]];
  const visible = feather(alpha, width, height, featherPixels);
  const tuned = new Uint8ClampedArray(data);
  if (featherPixels > 0) spreadColours(tuned, visible, width, height);
  const words = new Uint32Array(tuned.buffer);
  // Little-endian, as every machine with a browser is: alpha is the highest byte.
  for (let at = 0; at < count; at++) {
    words[at] = visible[at] === 0 ? 0 : ((words[at] & 0xffffff) | (visible[at] << 24)) >>> 0;
  }
  return { data: tuned, width, height };
}

/** `α ← sα/(1+(s−1)α)`, then with `τ = t/255`: `α ← max(0, (α−τ)/(1−τ))`, for every alpha of eight bits. */
function tuningTable(strength, threshold) {
  const tau = threshold / 255;
  return Uint8Array.from({ length: 256 }, (_, value) => {
    const alpha = value / 255;
    const strong = (strength * alpha) / (1 + (strength - 1) * alpha);
    const tuned = tau >= 1 ? Number(strong >= 1) : Math.max(0, (strong - tau) / (1 - tau));
    return Math.round(tuned * 255);
  });
}
