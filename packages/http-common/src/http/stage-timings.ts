/** Milliseconds by stage, in order of their first start. */
export class StageTimings {
  readonly #milliseconds = new Map<string, number>();
  readonly #onStage: (stage: string, milliseconds: number) => void;

  constructor(onStage: (stage: string, milliseconds: number) => void = () => undefined) {
    this.#onStage = onStage;
  }

  /** Starts a stage; call what it returns at the stage's end (a second call does nothing). */
  start(stage: string): () => void {
    const startedAt = performance.now();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.set(stage, performance.now() - startedAt);
    };
  }

  async measure<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const end = this.start(stage);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Adds milliseconds to a stage. */
  set(stage: string, milliseconds: number): void {
    this.#milliseconds.set(stage, (this.#milliseconds.get(stage) ?? 0) + milliseconds);
    this.#onStage(stage, milliseconds);
  }

  /** The value of a `Server-Timing` header (W3C Server Timing). */
  header(): string {
    return [...this.#milliseconds].map(([stage, ms]) => `${stage};dur=${ms.toFixed(1)}`).join(', ');
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(
      [...this.#milliseconds].map(([stage, ms]) => [stage, Math.round(ms * 10) / 10]),
    );
  }
}
