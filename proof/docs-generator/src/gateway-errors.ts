import type { ErrorDefinition } from '@media-services/http-common';

/** A code with what its documentation says. */
export type DocumentedError = ErrorDefinition & {
  readonly code: string;
  readonly origins: readonly string[];
};

/** Codes that only the gateway's own answers have (nginx/njs/problem.js). */
export const gatewayErrors: readonly DocumentedError[] = [
  {
    code: 'unauthorized',
    status: 401,
    title: 'A key is needed',
    retryable: false,
    cause: 'The operator has handed out keys (API_KEYS_FILE), and the request has none of them.',
    remedy: 'Send the key as `Authorization: Bearer KEY`.',
    origins: ['gateway'],
  },
  {
    code: 'service_unavailable',
    status: 502,
    title: 'The service does not answer',
    retryable: true,
    cause: 'The service behind the gateway is starting, restarting or stopped.',
    remedy: 'Wait as many seconds as `Retry-After` says; `/api/health` tells which service it is.',
    origins: ['gateway'],
  },
];
