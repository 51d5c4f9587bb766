import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { DomainError } from '@media-services/http-common';
import { request } from 'undici';
import { protocolFault, faultFrom, faultFromStatus } from '../../src/upstream/transfer-fault.js';

const coded = (code: string) => Object.assign(new Error(code), { code });

describe('faultFromStatus', () => {
  it.each([
    ...[408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524].map(
      (status) => [status, 'retry'] as const,
    ),
    ...[403, 410].map((status) => [status, 'renew'] as const),
    ...[204, 304, 400, 401, 404, 406, 416, 418, 451, 501, 505, 525].map(
      (status) => [status, 'none'] as const,
    ),
  ])('maps HTTP %d to the remedy %s', (status, remedy) => {
    expect(faultFromStatus(status, undefined)).toMatchObject({ remedy, retryAfterMs: 0 });
  });

  it.each([
    [429, 'upstream_rate_limited'],
    [451, 'geo_blocked'],
    [504, 'upstream_timeout'],
    [408, 'upstream_timeout'],
    [401, 'upstream_error'],
    [403, 'upstream_error'],
    [404, 'video_not_found'],
    [503, 'upstream_error'],
  ])('maps HTTP %d to the error %s', (status, code) => {
    expect(faultFromStatus(status, undefined).failure.code).toBe(code);
  });

  it("suggests operator settings when the server rejects this service's requests", () => {
    for (const status of [401, 403])
      expect(faultFromStatus(status, undefined).failure.message).toContain('OUTBOUND_PROXY');
    expect(faultFromStatus(404, undefined).failure.message).not.toContain('OUTBOUND_PROXY');
  });
});

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    ['999999', 999_999_000],
    ['1000000', 0],
    ['-5', 0],
    ['soon', 0],
    ['7s', 0],
    [undefined, 0],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
  ])('%j means %d ms', (header, ms) => {
    expect(faultFromStatus(503, header).retryAfterMs).toBe(ms);
  });

  it('may be a date', () => {
    const { retryAfterMs } = faultFromStatus(503, new Date(Date.now() + 600_000).toUTCString());
    expect(retryAfterMs).toBeGreaterThan(500_000);
    expect(retryAfterMs).toBeLessThanOrEqual(600_000);
  });
});

describe('faultFrom', () => {
  it('returns a fault unchanged', () => {
    const fault = protocolFault('lies');
    expect(faultFrom(fault)).toBe(fault);
    expect(fault).toMatchObject({ remedy: 'none', failure: { code: 'upstream_error' } });
  });

  it.each([
    ['upstream_unreachable', 'retry'],
    ['upstream_timeout', 'retry'],
    ['upstream_rate_limited', 'retry'],
    ['forbidden_address', 'none'],
    ['upstream_error', 'none'],
  ] as const)('by the guard as %s is worth: %s', (code, remedy) => {
    const failure = new DomainError(code, 'It is so.');
    expect(faultFrom(failure)).toMatchObject({ failure, remedy });
  });

  it.each([
    ...['ECONNRESET', 'ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'ETIMEDOUT', 'EPIPE', 'EPROTO'],
    ...[
      'EADDRNOTAVAIL',
      'EAI_AGAIN',
      'UND_ERR_SOCKET',
      'HPE_INVALID_CHUNK_SIZE',
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
    ...['ERR_TLS_HANDSHAKE_TIMEOUT', 'ERR_OSSL_X', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'],
  ])('retries the network error %s', (code) => {
    const error = coded(code);
    expect(faultFrom(error)).toMatchObject({
      remedy: 'retry',
      failure: { code: 'upstream_error', cause: error },
    });
  });

  it.each([
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n'],
    ['an invalid chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['an invalid header', 'HTTP/1.1 200 OK\r\nA B: C\r\n\r\n'],
  ])('retries a response that is not valid HTTP: %s', async (_, text) => {
    const server = createServer((socket) => socket.on('error', () => undefined).end(text)).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const read = async () => (await request(`http://127.0.0.1:${port}/`)).body.arrayBuffer();
    const error: unknown = await read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    server.close();
    expect(faultFrom(error)).toMatchObject({
      remedy: 'retry',
      failure: { code: 'upstream_error', cause: error },
    });
  });

  // What Node's TLS calls these faults is proved in packages/egress-guard/test/connect.test.ts.
  it.each([
    ...['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('does not retry the certificate error %s', (code) => {
    expect(faultFrom(coded(code))).toMatchObject({
      remedy: 'none',
      failure: { code: 'upstream_unreachable', message: expect.stringContaining('certificate') as string },
    });
  });

  it.each([new TypeError('x is not a function'), coded('ERR_INVALID_ARG_TYPE'), coded('ENOENT'), 'text'])(
    'by a mistake of our own stays what it is: %s',
    (thrown) => {
      let rethrown: unknown;
      try {
        faultFrom(thrown);
      } catch (error) {
        rethrown = error;
      }
      expect(rethrown).toBe(thrown);
    },
  );
});
