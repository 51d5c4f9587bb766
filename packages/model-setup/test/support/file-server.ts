import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FileServer extends AsyncDisposable {
  readonly url: string;
  /** Received requests, as `path` or `path bytes=…`. */
  readonly requests: string[];
  readonly files: Map<string, Uint8Array>;
  /** Interrupts the next response for this path after `afterBytes`. */
  interruptNext(path: string, afterBytes: number): void;
}

/**
 * A small hub or registry on loopback that serves files by path, supports ranges and can
 * interrupt responses.
 */
export async function fileServer(): Promise<FileServer> {
  const requests: string[] = [];
  const files = new Map<string, Uint8Array>();
  const breaks = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const { range } = request.headers;
    if (request.method === 'GET') requests.push(range === undefined ? path : `${path} ${range}`);
    const file = files.get(path);
    if (file === undefined) return void response.writeHead(404).end();
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (start > 0 && start >= file.length) return void response.writeHead(416).end();
    const rest = file.subarray(start);
    response.writeHead(range === undefined ? 200 : 206, {
      'content-length': rest.length,
      ...(range !== undefined && { 'content-range': `bytes ${start}-${file.length - 1}/${file.length}` }),
    });
    const limit = breaks.get(path);
    if (request.method === 'HEAD') return void response.end();
    if (limit === undefined) return void response.end(rest);
    breaks.delete(path);
    response.write(rest.subarray(0, limit), () => response.socket?.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    files,
    interruptNext: (path, afterBytes) => void breaks.set(path, afterBytes),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
