import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { locatePython } from '../../../src/extract/engine.js';

const maker = fileURLToPath(new URL('release.py', import.meta.url));

/** Releases of yt-dlp in a separate package index, the only one that pip uses during a test. */
export class Releases implements AsyncDisposable {
  readonly #folder: string;
  readonly #env = { ...process.env };

  private constructor(
    folder: string,
    readonly python: string,
  ) {
    this.#folder = folder;
    process.env['PIP_NO_INDEX'] = '1';
    this.withdraw();
  }

  static async open(): Promise<Releases> {
    const python = await locatePython('');
    return new Releases(await mkdtemp(join(tmpdir(), 'releases-')), python);
  }

  /** @param kind see release.py */
  async publish(kind: 'good' | 'broken' | 'fickle', version: string): Promise<void> {
    const index = join(this.#folder, `${kind}-${version}`);
    await promisify(execFile)(this.python, [maker, index, version, kind]);
    process.env['PIP_FIND_LINKS'] = index;
  }

  /** The index has none. */
  withdraw(): void {
    process.env['PIP_FIND_LINKS'] = join(this.#folder, 'nowhere');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.env = this.#env;
    await rm(this.#folder, { recursive: true });
  }
}
