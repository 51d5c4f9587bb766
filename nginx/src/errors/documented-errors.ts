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
  'Both services and the gateway return every error as a problem document (RFC 9457) with the media type `application/problem+json`.',
  'Match on `code` in your program. `detail` says what happened and what to do; `type` links to the code on this page.',
  'If `retryable` is true, the same request may succeed later. Every 429 and 503 has a `Retry-After` header with the seconds to wait.',
  'If a stream fails after its first byte, the service resets the connection, so that no client mistakes the file for a complete one.',
].join(' ');

export const problemExample = JSON.stringify(
  {
    type: '/docs/errors#invalid-request',
    title: 'Invalid request',
    status: 400,
    detail: 'end must be after start.',
    code: 'invalid_request',
    retryable: false,
    requestId: '0b9b4b7e-6a7c-4f6e-9a53-1c1f1b0c7a52',
    errors: [{ field: 'end', message: 'must be after start' }],
  },
  null,
  2,
);
