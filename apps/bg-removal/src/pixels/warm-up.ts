import { cutOut } from '../matte/cut-out.js';
import { defaultTuning } from '../matte/tuning.js';

const width = 900;
const height = 600;
const maskSide = 256;
const rounds = 6;

/**
 * Cuts a soft disc out of noise a few times, so that a new thread has its loops
 * compiled before the first image of a client: an interpreted pass over a
 * large image takes several times as long.
 */
export function warmUp(): void {
  for (let round = 0; round < rounds; round++) {
    const data = new Uint8Array(width * height * 4);
    for (let i = 0; i < data.length; i++) data[i] = i % 4 === 3 ? 255 : (i * 7919) % 251;
    const mask = { width: maskSide, height: maskSide, data: new Float32Array(maskSide * maskSide) };
    for (let i = 0; i < mask.data.length; i++) {
      const distance = Math.hypot((i % maskSide) / maskSide - 0.5, Math.floor(i / maskSide) / maskSide - 0.5);
      mask.data[i] = Math.min(1, Math.max(0, 3 * (0.3 - distance)));
    }
    cutOut({ width, height, data }, mask, defaultTuning);
  }
}
