import type { ErrorDefinition } from '@media-services/http-common';

/** Errors of outgoing requests, for the error table of a service that uses the guard. */
export const egressErrors = {
  invalid_url: {
    status: 400,
    title: 'Invalid URL',
    retryable: false,
    cause: 'It is not an http or https URL of at most 2048 characters without credentials.',
    remedy: 'Send the full public URL, URL-encoded.',
  },
  forbidden_address: {
    status: 403,
    title: 'IP address not allowed',
    retryable: false,
    cause: 'The host of the URL, or one it redirects or links to, is not on the public internet.',
    remedy: 'Use a public URL. If you run this server: ALLOWED_PRIVATE_SOURCES can allow an intranet source.',
  },
  upstream_unreachable: {
    status: 502,
    title: 'The site cannot be reached',
    retryable: true,
    cause: 'Its name does not resolve, or its server rejects or drops the connection.',
    remedy: 'Check the URL; try again later.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The site is too slow',
    retryable: true,
    cause: 'The site did not respond before the deadline.',
    remedy: 'Try again later.',
  },
  upstream_error: {
    status: 502,
    title: 'The site returned an error',
    retryable: true,
    cause: 'The site failed, or sent something other than it announced.',
    remedy:
      'Check the URL in a browser, or try again later. If you run this server: update yt-dlp when a video page keeps failing.',
  },
} as const satisfies Record<string, ErrorDefinition>;

declare module '@media-services/http-common' {
  interface ErrorTable extends Record<keyof typeof egressErrors, ErrorDefinition> {}
}
