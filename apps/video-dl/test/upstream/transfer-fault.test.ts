import { DomainError } from '@media-services/http-common';
import { brokenRules, faultFrom, faultFromStatus } from '../../dist/upstream/transfer-fault.js';

const coded = (code: string) => Object.assign(new Error(code), { code });

describe('what may help against an answer that is no media', () => {
  it.each([
    ...[408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524].map(
      (status) => [status, 'retry'] as const,
    ),
    ...[403, 410].map((status) => [status, 'renew'] as const),
    ...[204, 304, 400, 401, 404, 406, 416, 418, 451, 501, 505, 525].map(
      (status) => [status, 'none'] as const,
    ),
  ])('of HTTP %d is %s', (status, remedy) => {
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
  ])('of HTTP %d comes to %s in the end', (status, code) => {
    expect(faultFromStatus(status, undefined).failure.code).toBe(code);
  });

  it('is a setting of the operator where the server refuses this service', () => {
    for (const status of [401, 403])
      expect(faultFromStatus(status, undefined).failure.message).toContain('OUTBOUND_PROXY');
    expect(faultFromStatus(404, undefined).failure.message).not.toContain('OUTBOUND_PROXY');
  });
});

describe('the pause that a server asks for', () => {
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
  ])('is, of Retry-After %j, %d ms', (header, ms) => {
    expect(faultFromStatus(503, header).retryAfterMs).toBe(ms);
  });

  it('may be a date', () => {
    const { retryAfterMs } = faultFromStatus(503, new Date(Date.now() + 600_000).toUTCString());
    expect(retryAfterMs).toBeGreaterThan(500_000);
    expect(retryAfterMs).toBeLessThanOrEqual(600_000);
  });
});

describe('what was thrown', () => {
  it('is the fault that it is', () => {
    const fault = brokenRules('lies');
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
  ])('by the network as %s is tried again', (code) => {
    const error = coded(code);
    expect(faultFrom(error)).toMatchObject({
      remedy: 'retry',
      failure: { code: 'upstream_error', cause: error },
    });
  });

  // What Node's TLS calls these faults is proved in packages/egress-guard/test/tls.test.ts.
  it.each([
    ...['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('for a certificate as %s is not tried again', (code) => {
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
