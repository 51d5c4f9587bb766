import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { EgressOptions } from '@media-services/egress-guard';
import { DomainError } from '@media-services/http-common';
import { formatSelectors } from '../../../src/targets.js';
import { fixtureEngine } from '../../support/pythons.js';

/** One line of the engine's stdout. */
export type Message = Readonly<Record<string, unknown>> & {
  readonly type?: string;
  readonly ok?: boolean;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
};

export const maxMemoryBytes = 400 * 1024 * 1024;

/** The engine as a bare process with its line channel. */
export class BareEngine implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly exited: Promise<unknown>;
  readonly #messages: AsyncIterator<string, undefined>;
  readonly #proxyUrl: string;

  constructor(python: string, proxyUrl: string) {
    this.#proxyUrl = proxyUrl;
    const { port } = new URL(proxyUrl);
    const options = JSON.stringify({ proxyPort: Number(port), maxMemoryBytes });
    const child = spawn(python, [fixtureEngine, options], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.process = child;
    this.exited = once(child, 'exit');
    this.#messages = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async next(): Promise<Message> {
    const line = await this.#messages.next();
    if (line.done === true) throw new Error('the engine has closed its output');
    return JSON.parse(line.value) as Message;
  }

  send(message: object): void {
    this.process.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  run(id: number, url: string): void {
    const job = {
      kind: 'extract',
      url,
      proxyUrl: this.#proxyUrl,
      socketTimeoutSeconds: 5,
      targets: formatSelectors,
    };
    this.send({ type: 'run', id, job });
  }

  async extract(url: string): Promise<Message> {
    this.run(1, url);
    return this.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.stdin?.end();
    await this.exited;
  }
}

/** Limits of an egress session that no engine test reaches. */
export const wideBudget: EgressOptions = {
  maxBytes: 2 ** 40,
  maxConnections: 10_000,
  onExceeded: (what) => new DomainError('upstream_error', what),
};

/**
 * Asks the kernel whether it can restrict TCP ports: `landlock_create_ruleset` (444 on both machines)
 * returns its version, and version 4 introduced network rules (landlock(7)).
 */
const probe = `
import ctypes, platform, sys
known = sys.platform == 'linux' and platform.machine() in ('x86_64', 'aarch64')
print(known and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 4)
`;

/** Whether the kernel lock is available here. A container runtime may forbid it. */
export async function kernelOffersLock(python: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)(python, ['-c', probe]);
  return stdout.trim() === 'True';
}
