import { halve } from '../images/model-view.js';
import { cutOut } from '../matte/cut-out.js';
import { defaultTuning } from '../matte/tuning.js';

const width = 900;
const height = 600;
const maskSide = 256;
const roundsUntilWarm = 6;

/**
 * Lets the JIT compile the loops of a new process while it is idle, because an interpreted pass
 * over a large image takes several times as long. Runs one round per event loop turn, so that a
 * task waits for at most one round. Warming up before `ready` would take seconds of CPU time,
 * or a minute on a busy machine, during which a killed process has no replacement.
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

/** Cuts out a soft disc from noise. */
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
