import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** Serves a folder on loopback, with ranges; in place of the relay. */
export class FileServer implements AsyncDisposable {
  readonly #server: Server;
  readonly requests: string[] = [];

  private constructor(folder: string) {
    this.#server = createServer((request, response) => {
      this.requests.push(request.url ?? '');
      void serve(folder, request, response);
    });
  }

  static async start(folder: string): Promise<FileServer> {
    const server = new FileServer(folder);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function serve(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const file = join(folder, new URL(request.url ?? '/', 'http://host').pathname);
  const size = await stat(file).then(
    (found) => found.size,
    () => undefined,
  );
  if (size === undefined) {
    response.writeHead(404).end();
    return;
  }
  const range = /^bytes=(\d+)-(\d*)$/u.exec(request.headers.range ?? '');
  const start = Number(range?.[1] ?? 0);
  const end = Math.min(range?.[2] ? Number(range[2]) : Infinity, size - 1);
  response.writeHead(range ? 206 : 200, {
    'accept-ranges': 'bytes',
    'content-length': end - start + 1,
    ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  const body = createReadStream(file, { start, end });
  body.on('error', () => response.destroy());
  response.on('close', () => body.destroy());
  body.pipe(response);
}
