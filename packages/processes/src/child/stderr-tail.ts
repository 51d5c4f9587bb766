/** The scheme's length is bounded so that matching a line without a URL takes linear time. */
const urlPattern = /\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s'"<>\])]+/giu;

/** Redacts URLs in a child's diagnostics: they can contain tokens and must not reach a log or a user. */
export function redactUrls(line: string): string {
  return line.replace(urlPattern, '<url>');
}

const maxLines = 40;
const maxLineLength = 400;

/**
 * The last lines a child wrote to stderr, with URLs redacted. Memory use is bounded however
 * much it writes. `onLine` receives each line unredacted, for callers that parse it. Lines are
 * truncated before anything reads them, because a child may print text from a hostile file.
 */
export class StderrTail {
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #decoder = new TextDecoder();
  #lines: string[] = [];
  #partial = '';

  constructor(onLine?: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    // Progress lines end with only a carriage return.
    const pieces = (this.#partial + this.#decoder.decode(chunk, { stream: true })).split(/[\r\n]/u);
    // Cap an unfinished line too, so that it can't grow without limit.
    this.#partial = (pieces.pop() ?? '').slice(0, maxLineLength);
    for (const piece of pieces) this.#keep(piece.slice(0, maxLineLength));
  }

  end(): void {
    this.#keep(this.#partial);
    this.#partial = '';
  }

  #keep(line: string): void {
    if (line.trim() === '') return;
    this.#onLine?.(line);
    this.#lines.push(redactUrls(line));
    if (this.#lines.length > maxLines) this.#lines.shift();
  }

  /** Oldest line first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}
