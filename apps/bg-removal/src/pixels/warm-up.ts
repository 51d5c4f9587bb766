import { halve } from '../images/model-view.js';
import { cutOut } from '../matte/cut-out.js';
import { defaultTuning } from '../matte/tuning.js';

const width = 900;
const height = 600;
const maskSide = 256;
const roundsUntilWarm = 6;

/**
 * Has the loops of a new process compiled while nobody waits for it: an interpreted pass
 * over a large image takes several times as long. One round a turn of the event loop, so
 * that a task waits for one at most. Warming up before the first task would take seconds
 * of the processor, and on a busy machine a minute, in which a killed process has no successor.
 */
export class WarmUp {
  readonly #round: () => void;
  #left: number;
  #next: NodeJS.Immediate | undefined;

  constructor(round: () => void = cutOutDisc, rounds = roundsUntilWarm) {
    this.#round = round;
    this.#left = rounds;
  }

  resume(): void {
    if (this.#left <= 0) return;
    this.#next ??= setImmediate(() => {
      this.#next = undefined;
      this.#left -= 1;
      this.#round();
      this.resume();
    });
  }

  pause(): void {
    clearImmediate(this.#next);
    this.#next = undefined;
  }
}

/** Cuts a soft disc out of noise. */
function cutOutDisc(): void {
  const data = new Uint8Array(width * height * 4);
  for (let i = 0; i < data.length; i++) data[i] = i % 4 === 3 ? 255 : (i * 7919) % 251;
  const mask = { width: maskSide, height: maskSide, data: new Float32Array(maskSide * maskSide) };
  for (let i = 0; i < mask.data.length; i++) {
    const distance = Math.hypot((i % maskSide) / maskSide - 0.5, Math.floor(i / maskSide) / maskSide - 0.5);
    mask.data[i] = Math.min(1, Math.max(0, 3 * (0.3 - distance)));
  }
  const image = { width, height, data };
  halve(image);
  cutOut(image, mask, defaultTuning);
}
