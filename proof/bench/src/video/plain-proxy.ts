/** The minimum cost of forwarding bytes in Node: a one-line HTTP proxy in a separate process. */
import { createServer, get } from 'node:http';
import { pipeline } from 'node:stream/promises';

const server = createServer((req, res) => {
  const target = new URL(req.url ?? '/', 'http://proxy').searchParams.get('url') ?? '';
  get(target, { agent: false }, (upstream) => {
    res.writeHead(upstream.statusCode ?? 502, upstream.headers);
    pipeline(upstream, res).catch((error: unknown) =>
      res.destroy(error instanceof Error ? error : undefined),
    );
  });
});

server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
