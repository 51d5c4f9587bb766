import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The files of a corpus on a loopback port, with ranges. */
export interface FileSite extends AsyncDisposable {
  readonly host: string;
  /** The URL of a file. */
  urlOf(file: string): string;
}

export async function startFileSite(files: readonly string[]): Promise<FileSite> {
  const paths = new Map(files.map((file, index) => [`/${index}/${encodeURIComponent(nameOf(file))}`, file]));
  const urls = new Map([...paths].map(([path, file]) => [file, path]));
  const server = createServer((request, response) => {
    const file = paths.get(request.url ?? '');
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    stat(file).then(
      ({ size, mtimeMs }) => {
        const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
        const start = Number(asked?.[1] ?? 0);
        const end = Math.min(size - 1, asked?.[2] ? Number(asked[2]) : size - 1);
        const headers = { 'accept-ranges': 'bytes', etag: `"${size}-${mtimeMs}"` };
        if (asked !== null && start >= size) {
          response.writeHead(416, { ...headers, 'content-range': `bytes */${size}` }).end();
          return;
        }
        response.writeHead(asked === null ? 200 : 206, {
          ...headers,
          'content-length': Math.max(0, end - start + 1),
          ...(asked !== null && { 'content-range': `bytes ${start}-${end}/${size}` }),
        });
        if (request.method === 'HEAD' || size === 0) response.end();
        else
          createReadStream(file, { start, end })
            .on('error', () => response.destroy())
            .pipe(response);
      },
      () => response.writeHead(500).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    urlOf: (file) => `http://${host}${urls.get(file) ?? ''}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}
