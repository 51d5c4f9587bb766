import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killMarked, logsDir as allLogs, markerName, newStack, root } from '@media-services/stack/set-up';
import { Child, type ChildOptions } from './child.js';

const stopGraceMs = 10_000;
export const gatewayName = 'gateway';

export interface StackProcessesOptions {
  /** The gateway's port; any free one if undefined. */
  readonly port?: number | undefined;
  readonly logsDir?: string | undefined;
  readonly onLine?: ((name: string, line: string) => void) | undefined;
}

/** The processes of one stack. They end with this process, whatever ends it. */
export class StackProcesses {
  readonly logsDir: string;
  /** Folder for the gateway's rendered configuration. */
  readonly runDir: string;
  readonly #onLine: StackProcessesOptions['onLine'];
  readonly #marker: string;
  readonly #kill = () => this.kill();
  #children: readonly Child[] = [];
  #stopped: Promise<void> | undefined;

  constructor({ port, logsDir, onLine }: StackProcessesOptions) {
    ({ marker: this.#marker, runDir: this.runDir } = newStack());
    this.logsDir = logsDir ?? join(allLogs, String(port ?? this.#marker));
    this.#onLine = onLine;
    mkdirSync(this.logsDir, { recursive: true });
    process.once('exit', this.#kill);
  }

  start(program: Pick<ChildOptions, 'name' | 'file' | 'args' | 'env' | 'ipc'>): Child {
    const child = new Child({
      ...program,
      onLine: this.#onLine,
      cwd: root,
      logFile: join(this.logsDir, `${program.name}.log`),
      env: { ...program.env, [markerName]: this.#marker },
    });
    this.#children = [...this.#children, child];
    return child;
  }

  /** Removes a process that has ended. */
  forget(child: Child): void {
    this.#children = this.#children.filter((each) => each !== child);
  }

  get all(): readonly Child[] {
    return this.#children;
  }

  /** Stops everything. Safe to call again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    for (const child of this.#children) child.stopping = true;
    // Stop the gateway first, so that no client waits for a stopped service.
    const isGateway = ({ name }: Child) => name === gatewayName;
    await this.#children.find(isGateway)?.stop(stopGraceMs);
    await Promise.all(
      this.#children.filter((child) => !isGateway(child)).map((child) => child.stop(stopGraceMs)),
    );
    killMarked(this.#marker);
    rmSync(this.runDir, { recursive: true, force: true });
    process.off('exit', this.#kill);
  }

  /** Kills everything at once. */
  kill(): void {
    for (const child of this.#children) {
      child.stopping = true;
      void child.stop(0);
    }
    killMarked(this.#marker);
  }
}
