import { defaultTuning } from '../matte/tuning.js';
import type { ThreadTeam } from './thread-team.js';

/**
 * Small, because a task waits for the round that runs. Odd, so that the ends of rows and of the
 * image are compiled too.
 */
const width = 121;
const height = 81;
const maskSide = 128;
/** Each thread gets about half of the work of a round. */
const roundsUntilWarm = 50;
/** A process warms up for this long, then only if it may again. Longer than the pauses between. */
const turnMs = 250;

/**
 * Lets the JIT compile the loops of a new process while it is idle, because an interpreted pass
 * over a large image takes several times as long. Runs one round per event loop turn, so that a
 * task waits for at most one round. Begins when the model has loaded, which needs the processor
 * more. Warming up before `ready` would take seconds of CPU time, or a minute on a busy machine,
 * during which a killed process has no replacement.
 */
export class WarmUp {
  readonly #round: () => void | Promise<void>;
  #left: number;
  #until = 0;
  #isRunning = false;
  #next: NodeJS.Immediate | undefined;

  constructor(round: () => void | Promise<void>, rounds = roundsUntilWarm) {
    this.#round = round;
    this.#left = rounds;
  }

  /** Runs rounds for a while. */
  resume(): void {
    this.#until = performance.now() + turnMs;
    this.#continue();
  }

  pause(): void {
    this.#until = 0;
    clearImmediate(this.#next);
    this.#next = undefined;
  }

  #continue(): void {
    if (this.#left <= 0 || this.#isRunning || performance.now() >= this.#until) return;
    this.#next ??= setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    this.#next = undefined;
    this.#left -= 1;
    this.#isRunning = true;
    await this.#round();
    this.#isRunning = false;
    this.#continue();
  }
}

/** Cuts out a disc from noise, with every thread. Its left half has a hard edge and its right half a soft one. */
export async function cutOutDisc(team: ThreadTeam): Promise<void> {
  const data = new Uint8Array(width * height * 4);
  for (let i = 0; i < data.length; i++) data[i] = i % 4 === 3 ? 255 : (i * 7919) % 251;
  const mask = { width: maskSide, height: maskSide, data: new Float32Array(maskSide * maskSide) };
  for (let i = 0; i < mask.data.length; i++) {
    const x = (i % maskSide) / maskSide - 0.5;
    const distance = Math.hypot(x, Math.floor(i / maskSide) / maskSide - 0.5);
    mask.data[i] = Math.min(1, Math.max(0, (x < 0 ? 300 : 3) * (0.4 - distance)));
  }
  const shared = await team.begin({ width, height, data }, true);
  // Smaller and larger than the image.
  for (const side of [32, maskSide])
    await shared.view({ left: 0, top: 0, width, height }, { width: side, height: side });
  await shared.cutOut(mask, defaultTuning);
  // A task that arrives now begins after this image.
  await team.end();
}
