import type { ErrorDefinition } from '@media-services/http-common';

/** A code with what its documentation says. */
export type DocumentedError = ErrorDefinition & {
  readonly code: string;
  readonly origins: readonly string[];
};

/** Codes that only the gateway's own answers have (nginx/njs/problem.js). */
export const gatewayErrors: readonly DocumentedError[] = [
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
