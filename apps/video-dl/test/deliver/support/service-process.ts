import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const listening = z.object({ msg: z.literal('listening'), url: z.string(), metricsUrl: z.string() });

/** Things that a request could leave behind. */
export interface Footprint {
  /** Children other than the resident engine and parsers. */
  children: string[];
  sockets: number;
  temporaryFiles: string[];
}

/** The service in a separate process, as an operator runs it. */
export class ServiceProcess implements AsyncDisposable {
  readonly url: string;
  readonly metricsUrl: string;
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #temporary: string;

  private constructor(
    child: ChildProcess,
    addresses: { url: string; metricsUrl: string },
    temporary: string,
  ) {
    this.#child = child;
    this.url = addresses.url;
    this.metricsUrl = addresses.metricsUrl;
    this.#temporary = temporary;
    this.exited = once(child, 'exit').then(([code]) => code as number | null);
  }

  static async start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    const temporary = await mkdtemp(join(tmpdir(), 'video-dl-process-'));
    const child = spawn(process.execPath, [main], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PORT: '0',
        METRICS_PORT: '0',
        HOST: '127.0.0.1',
        LOG_LEVEL: 'info',
        TMPDIR: temporary,
        ENGINE_PROCESSES: '1',
        SHUTDOWN_GRACE_SECONDS: '0',
        ...env,
      },
    });
    const addresses = await new Promise<{ url: string; metricsUrl: string }>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the service ended with ${code} before it listened`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        const found = listening.safeParse(JSON.parse(line));
        if (found.success) resolve(found.data);
      });
    });
    const service = new ServiceProcess(child, addresses, temporary);
    await service.#healthy();
    return service;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.#child.kill(signal);
  }

  /** Names of living children, keyed by process id. */
  async children(): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    const pids = await readFile(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    for (const pid of pids.split(' ').filter((text) => text !== '')) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // pid (name) state …; a zombie has already exited.
      const [, name = '', state] = /^\d+ \((.*)\) (\S) /su.exec(stat) ?? [];
      if (state === undefined || state === 'Z') continue;
      const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      found.set(Number(pid), commandLine.includes('parser-process') ? 'parser' : name);
    }
    return found;
  }

  async footprint(): Promise<Footprint> {
    const children = [...(await this.children()).values()].filter(
      (name) => !name.startsWith('python') && name !== 'parser',
    );
    const descriptors = await readdir(`/proc/${this.pid}/fd`);
    const targets = await Promise.all(
      descriptors.map((name) => readlink(`/proc/${this.pid}/fd/${name}`).catch(() => '')),
    );
    return {
      children: children.sort(),
      sockets: targets.filter((target) => target.startsWith('socket:')).length,
      temporaryFiles: await readdir(this.#temporary),
    };
  }

  async metric(name: string): Promise<number> {
    const text = await (
      await fetch(`${this.metricsUrl}/metrics`, { headers: { connection: 'close' } })
    ).text();
    const line = text.split('\n').find((candidate) => candidate.startsWith(name));
    return Number(line?.split(' ').at(-1));
  }

  async #healthy(): Promise<void> {
    while (!(await fetch(`${this.url}/api/health`, { headers: { connection: 'close' } })).ok) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop('SIGKILL');
    await this.exited;
    await rm(this.#temporary, { recursive: true, force: true });
  }
}
