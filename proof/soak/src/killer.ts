import { kill } from 'node:process';
import { processesOf } from './footprint.js';

const victims = ['download engine', 'ffmpeg', 'inference', 'pixels'];
/** How long an engine may take to come back after a kill. */
const recoveryMs = 15_000;

/** Kills engines, one of each kind in turn. */
export class Killer {
  readonly kills = new Map<string, number>();
  readonly #times: number[] = [];
  readonly #find: () => ReturnType<typeof processesOf>;
  #turn = 0;

  constructor(roots: readonly number[], scratch: string) {
    this.#find = () => processesOf(roots, scratch);
  }

  strike(): void {
    const part = victims[this.#turn % victims.length] ?? '';
    this.#turn += 1;
    const victim = this.#find().find((process) => process.part === part);
    if (victim === undefined) return;
    try {
      kill(victim.pid, 'SIGKILL');
    } catch {
      return; // ended by itself meanwhile
    }
    this.#times.push(performance.now());
    this.kills.set(part, (this.kills.get(part) ?? 0) + 1);
  }

  /** Whether a kill may have hit a request that ran from then until now. */
  mayHaveHit(startedAt: number): boolean {
    return this.#times.some((time) => time > startedAt - recoveryMs);
  }
}
