/** The scheme is bounded, so that matching takes linear time in a line without any URL. */
const urlPattern = /\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s'"<>\])]+/giu;

/** Takes URLs out of a line of a child's diagnostics: they carry tokens and must not reach a log or a user. */
export function redactUrls(line: string): string {
  return line.replace(urlPattern, '<url>');
}

/**
 * The last lines a child wrote to stderr, without URLs, in bounded memory
 * however much it writes. Lines also go to `onLine` (not redacted, for reading
 * facts out of them). Every line is cut before anything looks into it: a child
 * may print text of a hostile file.
 */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxLineLength: number;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #decoder = new TextDecoder();
  #lines: string[] = [];
  #partial = '';

  constructor(options: { maxLines?: number; maxLineLength?: number; onLine?: (line: string) => void } = {}) {
    this.#maxLines = options.maxLines ?? 40;
    this.#maxLineLength = options.maxLineLength ?? 400;
    this.#onLine = options.onLine;
  }

  push(chunk: Uint8Array): void {
    // Progress lines end in a carriage return only.
    const pieces = (this.#partial + this.#decoder.decode(chunk, { stream: true })).split(/[\r\n]/u);
    // A line without an end is kept up to its cap, so that a flood cannot grow it.
    this.#partial = (pieces.pop() ?? '').slice(0, this.#maxLineLength);
    for (const piece of pieces) this.#keep(piece.slice(0, this.#maxLineLength));
  }

  end(): void {
    this.#keep(this.#partial);
    this.#partial = '';
  }

  #keep(line: string): void {
    if (line.trim() === '') return;
    this.#onLine?.(line);
    this.#lines.push(redactUrls(line));
    if (this.#lines.length > this.#maxLines) this.#lines.shift();
  }

  /** Oldest line first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}
