import { faultFrom } from '../../dist/upstream/transfer-fault.js';

// What Node's TLS calls these faults is proved in packages/egress-guard/test/tls.test.ts.
it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED'])(
  'tells that a certificate is not valid, and does not try again (%s)',
  (code) => {
    const { failure, remedy } = faultFrom(Object.assign(new Error('refused'), { code }));
    expect(failure).toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('certificate') as string,
    });
    expect(remedy).toBe('none');
  },
);
