import { ChildProcess, type Serializable } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type Readable, Writable } from 'node:stream';
import { accessSync, constants } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '@media-services/http-common';
import { execa, type Subprocess } from 'execa';
import { treeMemoryBytes } from './process-usage.js';
import { StderrTail } from './stderr-tail.js';

/** The descriptor of a child's second input. */
export const secondInput = 3;

export interface ChildGroupOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** The child's whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'ignore' | 'pipe';
  /** Opens descriptor `secondInput` for another input. Not together with `ipc`. */
  readonly hasSecondInput?: boolean;
  /** Opens Node's own channel between parent and child, with structured clones. */
  readonly ipc?: boolean;
  /** Ends the whole group when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** Receives whole lines as the child wrote them. `stderr` keeps the last lines with URLs redacted. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
  readonly memory?: MemoryLimit | undefined;
}

/** Limits on a child's memory. Each works without the others; the two kernel limits exist on Linux only. */
export interface MemoryLimit {
  /** We check while the child works, and kill its whole tree when the tree's resident memory exceeds this. */
  readonly maxResidentBytes?: number | undefined;
  /**
   * The kernel grants each process no more address space (RLIMIT_AS), including libraries and
   * memory it reserves but never touches.
   */
  readonly maxAddressSpaceBytes?: number | undefined;
  /** The kernel grants each process no more private writable memory (RLIMIT_DATA). For programs that reserve address space, such as V8. */
  readonly maxDataBytes?: number | undefined;
}

const minMemoryCheckMs = 50;
const maxMemoryCheckMs = 500;
/** Faster than programs take memory: the next check comes before one could reach its limit. */
const maxGrowthBytesPerMs = 2 * 1024 ** 2;

/** How a child ended; `code` is null when a signal ended it. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child could not be started. `code` is the system's error code, such as `ENOENT` or `EMFILE`. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError';
  readonly code: string | undefined;

  constructor(file: string, cause: unknown) {
    super(`${file} could not be started`, { cause });
    this.code = errorCode(cause);
  }

  /** Whether the machine has run out of descriptors, processes or memory. */
  get isShortage(): boolean {
    return ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].includes(this.code ?? '');
  }
}

/**
 * A child that leads its own process group. No shell ever parses its command. However it
 * ends, even successfully, we kill what is left of its group. Disposing closes stdout (which
 * wakes a blocked writer), sends SIGTERM, then SIGKILL.
 */
export class ChildGroup implements AsyncDisposable {
  readonly pid: number;
  /** Resolves when the child has ended and its stderr is read; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Resolves when, in addition, everything it wrote to stdout has been read; never rejects. */
  readonly closed: Promise<ChildExit>;
  readonly stderr: StderrTail;
  readonly #child: Child;
  readonly #killGraceMs: number;
  #killTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  #hasExceededMemory = false;

  private constructor(child: Child, { killGraceMs, onStderrLine, signal, memory }: ChildGroupOptions) {
    this.pid = child.pid;
    this.#child = child;
    this.#killGraceMs = killGraceMs;
    this.stderr = new StderrTail(onStderrLine);
    child.stderr.on('data', (chunk: Buffer) => this.stderr.push(chunk));
    this.exited = this.#watchExit();
    this.closed = this.#watchClose();
    const onAbort = () => this.#terminate();
    signal?.addEventListener('abort', onAbort, { once: true });
    void this.exited.then(() => signal?.removeEventListener('abort', onAbort));
    if (signal?.aborted) onAbort();
    if (memory?.maxResidentBytes !== undefined) void this.#watchMemory(memory.maxResidentBytes);
  }

  /**
   * @throws SpawnError
   * @throws the signal's reason if it is already aborted
   */
  static async start(options: ChildGroupOptions): Promise<ChildGroup> {
    options.signal?.throwIfAborted();
    const child = await spawn(withKernelLimits(options));
    return new ChildGroup(child, options);
  }

  /** Whether the child was killed, or failed, because it exceeded its memory limit. */
  get hasExceededMemory(): boolean {
    return this.#hasExceededMemory || this.stderr.lines.some((line) => /Cannot allocate memory/u.test(line));
  }

  /** Its stdin and second input, as far as it has them. */
  get inputs(): readonly Writable[] {
    return this.#child.inputs;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  /** Listens on the channel that `ipc` opens. Messages are not yet validated. */
  onMessage(listener: (message: unknown) => void): void {
    this.#child.process.on('message', listener);
  }

  /** Sends over the channel that `ipc` opens. If the child has just died, its exit reports that. */
  send(message: Serializable): void {
    if (this.#child.process.connected) this.#child.process.send(message, () => undefined);
  }

  /** Sends SIGKILL to the whole group. */
  kill(): void {
    this.#signal('SIGKILL');
  }

  /** Terminates the group if it still runs, and waits until it has ended. */
  async stop(): Promise<ChildExit> {
    this.#terminate();
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #watchExit(): Promise<ChildExit> {
    return new Promise((resolve) => {
      this.#child.process.once('exit', (code, signal) => {
        // Before `#hasEnded`, because a grandchild would keep the pipes open and delay the end.
        this.#signal('SIGKILL');
        this.#hasEnded = true;
        clearTimeout(this.#killTimer);
        const finish = () => {
          this.stderr.end();
          resolve({ code, signal });
        };
        if (this.#child.stderr.readableEnded || this.#child.stderr.destroyed) finish();
        else this.#child.stderr.once('close', finish);
      });
    });
  }

  async #watchMemory(maxResidentBytes: number): Promise<void> {
    let leftBytes = maxResidentBytes;
    while (leftBytes >= 0) {
      const pauseMs = Math.min(Math.max(leftBytes / maxGrowthBytesPerMs, minMemoryCheckMs), maxMemoryCheckMs);
      await delay(pauseMs, undefined, { ref: false });
      if (this.#hasEnded) return;
      leftBytes = maxResidentBytes - (await treeMemoryBytes(this.pid));
    }
    if (this.#hasEnded) return;
    this.#hasExceededMemory = true;
    this.kill();
  }

  async #watchClose(): Promise<ChildExit> {
    await once(this.#child.process, 'close');
    return this.exited;
  }

  #terminate(): void {
    if (this.#hasEnded || this.#killTimer !== undefined) return;
    this.#child.stdout.destroy();
    this.#signal('SIGTERM');
    this.#killTimer = setTimeout(() => this.#signal('SIGKILL'), this.#killGraceMs);
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#hasEnded) signalProcessGroup(this.pid, signal);
  }
}

/**
 * The shell sets the kernel's limits and then becomes the program. It gets the program's name and
 * arguments as its positional parameters, so it never parses them as a command line.
 */
function withKernelLimits(options: ChildGroupOptions): ChildGroupOptions {
  const { file, args, memory = {} } = options;
  const limits = [
    ['-v', memory.maxAddressSpaceBytes],
    ['-d', memory.maxDataBytes],
  ] as const;
  const commands = limits.flatMap(([flag, bytes]) =>
    bytes === undefined ? [] : [`ulimit ${flag} ${Math.ceil(bytes / 1024)} 2>/dev/null`],
  );
  if (commands.length === 0 || process.platform !== 'linux') return options;
  if (file.includes('/')) {
    try {
      accessSync(file, constants.X_OK);
    } catch (error) {
      throw new SpawnError(file, error);
    }
  }
  const script = [...commands, 'exec "$@"'].join('; ');
  return { ...options, file: '/bin/sh', args: ['-c', script, 'sh', file, ...args] };
}

interface Child {
  readonly process: Subprocess;
  readonly pid: number;
  readonly inputs: readonly Writable[];
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/**
 * When no descriptor is left for a child's pipes, execa throws an unrelated error at once, and
 * nothing would handle that child's `error` event, which would end this process. So we attach a
 * listener where Node announces each new child.
 */
async function spawn({
  file,
  args,
  env,
  stdin,
  hasSecondInput = false,
  ipc = false,
}: ChildGroupOptions): Promise<Child> {
  let cause: unknown;
  const onCreated = (message: unknown): void => {
    const child = typeof message === 'object' && message !== null && 'process' in message && message.process;
    if (child instanceof ChildProcess) child.on('error', (error) => (cause = error));
  };
  diagnostics.subscribe('child_process', onCreated);
  try {
    const more = ipc ? (['ipc'] as const) : hasSecondInput ? (['pipe'] as const) : [];
    const started = execa(file, args, {
      stdio: [stdin, 'pipe', 'pipe', ...more],
      serialization: 'advanced',
      buffer: false,
      reject: false,
      detached: true,
      extendEnv: false,
      env,
    });
    const { pid, stdout, stderr } = started;
    if (pid === undefined) throw (await started).cause;
    const streams: readonly unknown[] = [started.stdin, started.stdio[secondInput]];
    const inputs = streams.filter((stream) => stream instanceof Writable);
    return { process: started, pid, inputs, stdout, stderr };
  } catch (error) {
    await nextTurn();
    throw new SpawnError(file, cause ?? error);
  } finally {
    diagnostics.unsubscribe('child_process', onCreated);
  }
}

/**
 * Signals a whole process group; the leader was spawned `detached`.
 * @returns false when no process of the group is left
 */
export function signalProcessGroup(leaderPid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-leaderPid, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}
