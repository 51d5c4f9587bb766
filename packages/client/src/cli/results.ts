import { MediaServicesError } from '../errors.js';
import { messageOf } from './messages.js';
import type { Terminal } from './terminal.js';

/** What became of one link or image. */
export interface Result {
  /** The link or the path, as given. */
  readonly source: string;
  readonly status: 'saved' | 'skipped' | 'failed';
  readonly file?: string | undefined;
}

/** Reports the results of a command one by one, and remembers the worst failure. */
export class Results {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #hasRejection = false;
  #hasUnavailable = false;

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  saved(source: string, file: string): void {
    this.#terminal.result(this.#json ? line({ source, status: 'saved', file }) : file);
  }

  skipped(source: string, file: string, reason: string): void {
    if (this.#json) this.#terminal.result(line({ source, status: 'skipped', file }));
    else this.#terminal.say(reason);
  }

  failed(source: string, error: Error): void {
    const isUnavailable = error instanceof MediaServicesError && error.retryable;
    if (isUnavailable) this.#hasUnavailable = true;
    else this.#hasRejection = true;
    const message = error instanceof MediaServicesError ? messageOf(error) : error.message;
    if (this.#json) {
      const code = error instanceof MediaServicesError ? error.code : undefined;
      this.#terminal.result(line({ source, status: 'failed', code, message }));
    } else this.#terminal.error(`${source}: ${message}`);
  }

  /** `unavailable` if another try may help. */
  get worst(): 'done' | 'rejected' | 'unavailable' {
    if (this.#hasUnavailable) return 'unavailable';
    return this.#hasRejection ? 'rejected' : 'done';
  }
}

function line(result: Result & { readonly code?: string | undefined; readonly message?: string }): string {
  return JSON.stringify(result);
}
