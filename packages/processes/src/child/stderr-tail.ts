const urlPattern = /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>\])]+/giu;

/** Takes URLs out of a line of a child's diagnostics: they carry tokens and must not reach a log or a user. */
export function redactUrls(line: string): string {
  return line.replace(urlPattern, '<url>');
}

/**
 * The last lines a child wrote to stderr, with URLs taken out, in bounded
 * memory however much it writes. Whole lines also go to `onLine` (not redacted,
 * for reading facts out of them).
 */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxLineLength: number;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #decoder = new TextDecoder();
  #lines: string[] = [];
  #partial = '';

  constructor(options: { maxLines?: number; maxLineLength?: number; onLine?: (line: string) => void } = {}) {
    this.#maxLines = options.maxLines ?? 20;
    this.#maxLineLength = options.maxLineLength ?? 400;
    this.#onLine = options.onLine;
  }

  push(chunk: Uint8Array): void {
    // Progress lines end in a carriage return only.
    const pieces = (this.#partial + this.#decoder.decode(chunk, { stream: true })).split(/[\r\n]+/u);
    // A line without an end is kept up to its cap, so that a flood cannot grow it.
    this.#partial = (pieces.pop() ?? '').slice(0, this.#maxLineLength);
    for (const piece of pieces) this.#keep(piece);
  }

  end(): void {
    this.#keep(this.#partial);
    this.#partial = '';
  }

  #keep(line: string): void {
    if (line.trim() === '') return;
    this.#onLine?.(line);
    this.#lines.push(redactUrls(line).slice(0, this.#maxLineLength));
    if (this.#lines.length > this.#maxLines) this.#lines = this.#lines.slice(-this.#maxLines);
  }

  /** Oldest line first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}
