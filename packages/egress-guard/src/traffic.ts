import type { Socket } from 'node:net';

const measureEveryMs = 50;
/** HTTP framing of a job, such as headers, chunk sizes and informational responses, beyond its share of the body. */
const maxFramingBytes = 4 * 1024 * 1024;

interface TrafficOptions {
  readonly onBytes: (count: number) => void;
  /** Too much of what arrived is framing instead of content. */
  readonly onExcess: () => void;
}

/**
 * Counts what a job's connections read from the network. A response can consist of framing that no
 * reader of its body ever sees: chunk extensions, informational responses, TLS records without content.
 */
export class Traffic {
  readonly #options: TrafficOptions;
  /** Bytes of each open connection that are counted. */
  readonly #counted = new Map<Socket, number>();
  #total = 0;
  #body = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  /** Counts a new connection's bytes until it closes. */
  add(socket: Socket): void {
    this.#counted.set(socket, 0);
    this.#timer ??= setInterval(() => this.measure(), measureEveryMs).unref();
    socket.once('close', () => {
      this.measure();
      this.#counted.delete(socket);
      if (this.#counted.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  addBody(bytes: number): void {
    this.#body += bytes;
  }

  /** Reports what has arrived since the last time. */
  measure(): void {
    for (const [socket, counted] of this.#counted) {
      const bytes = socket.bytesRead - counted;
      if (bytes <= 0) continue;
      this.#counted.set(socket, counted + bytes);
      this.#total += bytes;
      this.#options.onBytes(bytes);
    }
    if (this.#total - this.#body > maxFramingBytes + this.#body) this.#options.onExcess();
  }
}
