/**
 * How fast a file arrives in requests of at most 10 MiB, as YouTube requires, over a line with a
 * round trip of 60 ms, compared with one request for the whole file. Alternates in one run.
 *
 *   npm run bench -- chunks          1 GB at 50 MB/s, about two minutes
 *   npm run bench -- chunks --keep   also writes the result into docs/internals/benchmarks.md
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { cpus, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createGuard } from '@media-services/egress-guard';
import { RemoteObject } from '@media-services/video-dl/dist/upstream/remote-object.js';
import { Transfer } from '@media-services/video-dl/dist/upstream/transfer.js';
import { defaultLimits } from '@media-services/video-dl/dist/upstream/media-source.js';
import { inTurn, median } from './measure.js';
import { keep, ms, renderTable, times } from './report.js';

const { values: options } = parseArgs({
  options: { keep: { type: 'boolean', default: false }, mb: { type: 'string', default: '1000' } },
});
const fileBytes = Number(options.mb) * 1e6;
const chunkBytes = 10 * 1024 ** 2;
const roundTripMs = 60;
const lineBytesPerMs = 50_000;
const rounds = 3;
const minRatio = 0.97;

/** Sends zeros: the file, or the requested range of it. */
const site = createServer(({ headers }, response) => {
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/u.exec(headers.range ?? '') ?? [];
  const start = Number(first);
  const end = last === '' ? fileBytes - 1 : Math.min(Number(last), fileBytes - 1);
  const range = headers.range !== undefined && { 'content-range': `bytes ${start}-${end}/${fileBytes}` };
  response.writeHead(range ? 206 : 200, { ...range, 'content-length': end - start + 1, etag: '"1"' });
  const block = Buffer.alloc(256 * 1024);
  let left = end - start + 1;
  const send = (): void => {
    while (left > 0) {
      const bytes = Math.min(left, block.length);
      left -= bytes;
      if (!response.write(block.subarray(0, bytes))) return void response.once('drain', send);
    }
    response.end();
  };
  send();
});

/** One line, whose bandwidth all connections share. */
const line = { freeAt: 0 };
const sitePort = await portOf(site);
const proxy = createTcpServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: sitePort, host: '127.0.0.1', noDelay: true });
  for (const socket of [client, upstream]) socket.on('error', () => undefined);
  void carry(client, upstream);
  void carry(upstream, client);
});
const port = await portOf(proxy);
const ended = new AbortController();
const guard = createGuard({ allowedPrivateSources: [`127.0.0.1:${port}`] });
const dispatcher = guard.createDispatcher({ signal: ended.signal });

const load = loadavg()[0] ?? 0;
const measured = await inTurn(rounds, { chunks: () => download(chunkBytes), whole: () => download(null) });
const [chunks, whole] = [median(measured.chunks), median(measured.whole)];
const ratio = whole / chunks;
const table = renderTable(
  [
    {
      what: `${options.mb} MB in chunks of 10 MiB`,
      value: ms(chunks),
      ratio: times(ratio),
      reference: `one request: ${ms(whole)}`,
      goal: `≥ ${minRatio} ×`,
      isMet: ratio >= minRatio,
    },
  ],
  'video-dl',
);
process.stdout.write(`${table}\n`);
if (options.keep) {
  const [cpu] = cpus();
  const heading = `## Sites that serve at most 10 MiB at once\n\n\`npm run bench -- chunks\` on ${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}; load before: ${load.toFixed(1)}. A proxy delays each direction by ${roundTripMs / 2} ms and lets ${lineBytesPerMs / 1000} MB/s through. Medians of ${rounds}, in turn.`;
  await keep('bench:chunks', `${heading}\n\n${table}`);
}
ended.abort();
proxy.close();
site.close();
site.closeAllConnections();

/** Milliseconds for the whole file. @param chunkBytes of each request; null for one request */
async function download(chunkBytes: number | null): Promise<number> {
  const startedAt = performance.now();
  const locator = { url: `http://127.0.0.1:${port}/file`, headers: {}, cookies: undefined };
  const url = { locate: () => Promise.resolve(locator), renew: () => Promise.resolve(false) };
  const quiet = { debug: () => undefined, warn: () => undefined };
  const transfer = await Transfer.open({
    object: new RemoteObject(url, chunkBytes),
    range: null,
    context: { dispatcher, limits: defaultLimits, logger: quiet, countReceived: () => undefined },
    signal: ended.signal,
  });
  let bytes = 0;
  for await (const chunk of transfer.chunks()) bytes += chunk.length;
  if (bytes !== fileBytes) throw new Error(`${bytes} bytes of ${fileBytes}`);
  return performance.now() - startedAt;
}

/** Delays and throttles bytes like the line does. */
async function carry(from: Socket, to: Socket): Promise<void> {
  const onTheWay: (Buffer | null)[] = [];
  const deliver = (chunk: Buffer | null, afterMs: number): void => {
    onTheWay.push(chunk);
    setTimeout(() => {
      const next = onTheWay.shift();
      if (next) to.write(next);
      else to.end();
    }, afterMs);
  };
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      const now = performance.now();
      line.freeAt = Math.max(line.freeAt, now) + chunk.length / lineBytesPerMs;
      deliver(chunk, line.freeAt - now + roundTripMs / 2);
      await delay(line.freeAt - now);
    }
    deliver(null, roundTripMs / 2);
  } catch {
    to.destroy();
  }
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
