import { errorTable as bgRemovalErrors } from '@media-services/bg-removal/dist/errors.js';
import { codesOf } from '@media-services/http-common';
import { errorTable as videoDlErrors } from '@media-services/video-dl/dist/errors.js';
import { gatewayErrors, type DocumentedError } from './gateway-errors.js';

/** Every code that a client can see, by status. */
export function documentedErrors(): DocumentedError[] {
  const byCode = new Map<string, DocumentedError>();
  for (const [service, table] of [
    ['video-dl', videoDlErrors],
    ['bg-removal', bgRemovalErrors],
  ] as const) {
    for (const code of codesOf(table)) {
      const origins = [...(byCode.get(code)?.origins ?? []), service];
      byCode.set(code, { ...table[code], code, origins });
    }
  }
  return [...byCode.values(), ...gatewayErrors].sort(
    (left, right) => left.status - right.status || left.code.localeCompare(right.code),
  );
}

/** The fragment of a code's URL: `geo_blocked` is at `#geo-blocked`. */
export function anchorOf(code: string): string {
  return code.replaceAll('_', '-');
}

export const errorsIntroduction = [
  'Every error, of both services and of the gateway, is a problem document (RFC 9457) with the media type `application/problem+json`.',
  'Its `type` leads here, `code` is for programs, `detail` says what happened this time and what to do.',
  '`retryable` tells whether the very same request may succeed later; every 429 and 503 says in `Retry-After` after how many seconds.',
  'A stream that fails after its first byte cannot become an error any more: its connection is reset, so that no client takes it for complete.',
].join(' ');

export const problemExample = JSON.stringify(
  {
    type: '/docs/errors#invalid-request',
    title: 'Invalid request',
    status: 400,
    detail: 'Invalid: fmt. See `errors` for what each must be.',
    code: 'invalid_request',
    retryable: false,
    requestId: '0b9b4b7e-6a7c-4f6e-9a53-1c1f1b0c7a52',
    errors: [{ field: 'fmt', message: 'must be mp4-720 or mp4-1080' }],
  },
  null,
  2,
);
