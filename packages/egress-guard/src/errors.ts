import type { ErrorDefinition } from '@media-services/http-common';

/** What a request to the outside can end in before there is an answer; for the error table of a service with a guard. */
export const egressErrors = {
  invalid_url: {
    status: 400,
    title: 'Invalid URL',
    retryable: false,
    cause: 'It is not an http or https URL of at most 2048 characters without credentials.',
    remedy: 'Send the full public URL of the page, URL-encoded.',
  },
  forbidden_address: {
    status: 403,
    title: 'IP address not allowed',
    retryable: false,
    cause: 'The host of the URL, or one that it leads to, is not on the public internet.',
    remedy: 'Use a public URL; as the operator, permit an intranet source with ALLOWED_PRIVATE_SOURCES.',
  },
  upstream_unreachable: {
    status: 502,
    title: 'The site cannot be reached',
    retryable: true,
    cause: 'Its name does not resolve, or its server refuses or drops the connection.',
    remedy: 'Check the URL; try again later.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The site is too slow',
    retryable: true,
    cause: 'The site did not answer before the deadline.',
    remedy: 'Try again later.',
  },
} as const satisfies Record<string, ErrorDefinition>;

declare module '@media-services/http-common' {
  interface ErrorTable extends Record<keyof typeof egressErrors, ErrorDefinition> {}
}
