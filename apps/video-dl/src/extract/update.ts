import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger, Metrics } from '@media-services/http-common';
import { childEnvironment } from '@media-services/processes';
import { execa } from 'execa';
import { engineReadySchema } from './engine-messages.js';
import { engineCommand, type DownloadEngine, type EngineProgram } from './engine.js';

export const updateChannels = ['stable', 'nightly'] as const;
export type UpdateChannel = (typeof updateChannels)[number];

export interface EngineUpdaterOptions {
  readonly engine: Pick<DownloadEngine, 'recycle' | 'health'>;
  /** How engine processes are started. The updater sets newer packages in it. */
  readonly program: EngineProgram;
  readonly channel: UpdateChannel;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export type UpdateOutcome = 'updated' | 'current' | 'failed' | 'rolled_back';

const installTimeoutMs = 5 * 60 * 1000;
const selfTestTimeoutMs = 2 * 60 * 1000;

/**
 * Updates yt-dlp in a running service. Installs a release next to the old one, runs the
 * engine's self-test with it, then restarts one process after the other, each between two
 * jobs. A failed update is rolled back.
 */
export class EngineUpdater implements AsyncDisposable {
  readonly #options: EngineUpdaterOptions;
  readonly #stopping = new AbortController();
  readonly #outcomes;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<UpdateOutcome> | undefined;

  constructor(options: EngineUpdaterOptions) {
    this.#options = options;
    this.#outcomes = options.metrics.counter({
      name: 'media_engine_updates_total',
      help: 'Updates of yt-dlp in the running service, by outcome.',
      labelNames: ['outcome'],
    });
  }

  /** Updates immediately, then every day. */
  start(): void {
    void this.update();
    this.#timer = setInterval(() => void this.update(), 24 * 3600 * 1000);
    this.#timer.unref();
  }

  /** Updates once. Never rejects: errors are logged and counted. */
  async update(): Promise<UpdateOutcome> {
    this.#running ??= this.#update().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#running;
    await remove(this.#options.program.packages);
  }

  async #update(): Promise<UpdateOutcome> {
    const { logger, channel } = this.#options;
    let outcome: UpdateOutcome = 'failed';
    try {
      outcome = await this.#install();
      logger.info({ outcome, channel, version: this.#version() }, 'update of yt-dlp');
    } catch (error) {
      if (this.#stopping.signal.aborted) return 'failed';
      logger.error({ err: error, channel, version: this.#version() }, 'update of yt-dlp failed');
    }
    this.#outcomes.inc({ outcome });
    return outcome;
  }

  async #install(): Promise<UpdateOutcome> {
    const { program, engine, logger } = this.#options;
    const previous = program.packages;
    // Writable only by this user, because its content is executed.
    const packages = await mkdtemp(join(tmpdir(), 'yt-dlp-'));
    try {
      await this.#download(packages);
      if ((await this.#selfTest(packages)) === this.#version()) return 'current';
      program.packages = packages;
      await engine.recycle('update of yt-dlp');
      return 'updated';
    } catch (error) {
      if (program.packages !== packages) throw error;
      logger.error({ err: error }, "the new yt-dlp didn't start; rolling back");
      program.packages = previous;
      await engine.recycle('rollback of yt-dlp');
      return 'rolled_back';
    } finally {
      await remove(program.packages === packages ? previous : packages);
    }
  }

  /** Installs without dependencies: yt-dlp and its scripts are pure Python and use the pinned ones. */
  async #download(packages: string): Promise<void> {
    const { program, channel } = this.#options;
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-cache-dir'];
    const what = ['--no-deps', '--only-binary=:all:', '--upgrade', '--target', packages];
    const pre = channel === 'nightly' ? ['--pre'] : [];
    await execa(program.python, [...pip, ...what, ...pre, 'yt-dlp', 'yt-dlp-ejs'], {
      cancelSignal: this.#stopping.signal,
      timeout: installTimeoutMs,
      env: { ...childEnvironment(), ...pipSettings() },
      extendEnv: false,
      stdin: 'ignore',
    });
  }

  /** Starts an engine with the packages. It tests itself before it reports ready. @returns its version */
  async #selfTest(packages: string): Promise<string> {
    const { file, args, env } = engineCommand({ ...this.#options.program, packages });
    const child = execa(file, args, {
      cancelSignal: this.#stopping.signal,
      timeout: selfTestTimeoutMs,
      env: childEnvironment(env),
      extendEnv: false,
      stdin: 'pipe',
    });
    for await (const line of child) {
      if (line.trim() === '') continue;
      // The engine exits at the end of its input.
      child.stdin.end();
      await child;
      return engineReadySchema.parse(JSON.parse(line)).version;
    }
    await child;
    throw new Error('the new yt-dlp exited before it was ready');
  }

  #version(): string | undefined {
    return this.#options.engine.health().ready?.version;
  }
}

async function remove(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

/** The operator's pip settings: index, mirror, proxy. */
function pipSettings(): NodeJS.ProcessEnv {
  const isSetting = /^(PIP_\w+|https?_proxy|no_proxy)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isSetting.test(name)));
}
