import { gzipSync } from 'node:zlib';
import { createGuard } from '@media-services/egress-guard';
import { Upstream } from '../../src/upstream/upstream.js';
import { silentLogger } from '../../../../packages/egress-guard/test/support/servers.js';
import { fileSize, hash, quickLimits, startBench, type Bench } from '../relay/support/bench.js';

let bench: Bench;
let upstream: Upstream;
let counter = 0;

beforeAll(async () => {
  bench = await startBench();
  const guard = createGuard({ allowedPrivateSources: [bench.host] });
  upstream = new Upstream({ guard, logger: silentLogger, limits: quickLimits });
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A unique URL of the file, because faults are counted per URL. */
const media = (query = '') => `${bench.site}/file.mp4?n=${counter++}${query === '' ? '' : `&${query}`}`;

/** A file with a Content-Encoding header. */
function encoded(encoding: string, body: Buffer): string {
  const path = `/encoded/${counter++}`;
  bench.on(path, (_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding, 'content-length': body.length }).end(body);
  });
  return `${bench.site}${path}`;
}

const signal = new AbortController().signal;
const client = 'test';

describe('fetchBytes', () => {
  it('reads a small file', async () => {
    const { bytes } = await upstream.fetchBytes(media(), { maxBytes: fileSize, signal, client });
    expect(hash(bytes)).toBe(hash(bench.file));
  });

  it('follows a redirect in raw UTF-8', async () => {
    const location = Buffer.from('/vidéo.mp4').toString('latin1');
    bench.on('/moved', (_request, response) => response.writeHead(302, { location }).end());
    bench.on('/vid%C3%A9o.mp4', (_request, response) => response.end('a small file'));
    const { bytes } = await upstream.fetchBytes(`${bench.site}/moved`, { maxBytes: 12, signal, client });
    expect(bytes.toString()).toBe('a small file');
  });

  it('resumes', async () => {
    const { bytes } = await upstream.fetchBytes(media('cut=1000000&times=1'), {
      maxBytes: fileSize,
      signal,
      client,
    });
    expect(hash(bytes)).toBe(hash(bench.file));
  });

  it.each([
    ['gzip', 'gzip', () => gzipSync('a small file')],
    ['an empty encoding', '', () => Buffer.from('a small file')],
    ['the encoding of the upload', 'aws-chunked', () => Buffer.from('a small file')],
  ])('reads a file with %s', async (_what, encoding, body) => {
    const { bytes } = await upstream.fetchBytes(encoded(encoding, body()), { maxBytes: 12, signal, client });
    expect(bytes.toString()).toBe('a small file');
  });

  it.each([
    ['a gzip bomb', 'gzip', () => gzipSync(Buffer.alloc(50_000_000)), 'more than 1000000 bytes'],
    ['damaged gzip', 'gzip', () => Buffer.from('no gzip at all'), 'damaged compressed data'],
    ['damaged Brotli', 'br', () => Buffer.from('x'), 'damaged compressed data'],
    ['an unknown encoding', 'zstd', () => Buffer.from('x'), 'compressed the file'],
  ])('rejects %s', async (_what, encoding, body, detail) => {
    const reading = upstream.fetchBytes(encoded(encoding, body()), { maxBytes: 1_000_000, signal, client });
    await expect(reading).rejects.toThrow(detail);
  });

  it.each([
    ['something too large', () => media('chunked'), 'upstream_error'],
    ['a private address', () => 'http://10.0.0.1/cover.jpg', 'forbidden_address'],
    [
      'a redirect to a private address',
      () => media('redirect=http%3A%2F%2F10.0.0.1%2F'),
      'forbidden_address',
    ],
    ['a URL that is neither http nor https', () => 'file:///etc/passwd', 'upstream_error'],
    ['an invalid URL', () => 'nonsense', 'upstream_error'],
  ])('rejects %s', async (_what, url, code) => {
    await expect(upstream.fetchBytes(url(), { maxBytes: 1000, signal, client })).rejects.toMatchObject({
      code,
    });
  });
});
