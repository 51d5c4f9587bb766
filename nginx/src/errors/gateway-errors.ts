import type { ErrorDefinition } from '@media-services/http-common';

/** A code with its documentation. */
export type DocumentedError = ErrorDefinition & {
  readonly code: string;
  readonly origins: readonly string[];
};

/** A problem that nginx itself returns. */
export interface GatewayProblem {
  readonly status: number;
  /** nginx's own status, if it isn't the one that is sent. */
  readonly nginxStatus?: number;
  readonly code: string;
  /** Only for codes that the services don't have: their error tables define the others. */
  readonly definition?: Pick<ErrorDefinition, 'title' | 'retryable' | 'cause' | 'remedy'>;
  /** Absent if njs creates it per request. njs replaces `{basePath}`. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  /** Any request to an endpoint can fail like this, so OpenAPI lists it for all of them. */
  readonly atEveryEndpoint?: true;
}

/** To add an error, add a row here and use its status in nginx/. The build writes `njs/problems.js`. */
export const gatewayProblems: readonly GatewayProblem[] = [
  {
    status: 400,
    code: 'invalid_request',
    detail: 'The request is malformed or its URL or headers are too long. Check how the query is encoded.',
    errors: [{ field: 'request', message: 'is malformed or too long' }],
  },
  {
    status: 400,
    nginxStatus: 496,
    code: 'invalid_request',
    detail: 'This server requires a TLS certificate of the client. Send one that its operator accepts.',
    errors: [{ field: 'request', message: 'needs a valid client certificate' }],
  },
  {
    status: 400,
    nginxStatus: 497,
    code: 'invalid_request',
    detail: 'This port expects HTTPS, and the request is plain HTTP. Use https:// in the URL.',
    errors: [{ field: 'request', message: 'must use HTTPS' }],
  },
  {
    status: 400,
    nginxStatus: 501,
    code: 'invalid_request',
    detail:
      'This server does not support the Transfer-Encoding of the request. Use "chunked", or send a Content-Length.',
    errors: [{ field: 'Transfer-Encoding', message: 'must be chunked' }],
  },
  {
    status: 400,
    nginxStatus: 505,
    code: 'invalid_request',
    detail: 'This server does not support the HTTP version of the request line. Use HTTP/1.1.',
    errors: [{ field: 'request', message: 'must use HTTP/1.1' }],
  },
  {
    status: 401,
    code: 'unauthorized',
    definition: {
      title: 'A key is needed',
      retryable: false,
      cause:
        'The operator requires API keys (API_KEYS_FILE), and the request has no valid one; or its URL was signed with another key, changed, or has expired.',
      remedy:
        'Send the key as `Authorization: Bearer KEY`, as `X-Api-Key: KEY`, or as the password of HTTP Basic; or sign the URL again.',
    },
    detail:
      'This server requires an access key. Send the key from its operator as "Authorization: Bearer KEY", as "X-Api-Key: KEY" or as the password of HTTP Basic. A signed URL must be unchanged and not expired.',
    atEveryEndpoint: true,
  },
  {
    status: 403,
    nginxStatus: 592,
    code: 'cross_site_request',
    definition: {
      title: 'Request from another site',
      retryable: false,
      cause: "Another site's page made the browser send this request.",
      remedy: 'If you run this server: CORS_ALLOWED_ORIGINS can allow the page.',
    },
    detail:
      "Another site's page made your browser send this request. Open this server's own page instead. If you run this server: CORS_ALLOWED_ORIGINS can allow the other page.",
    atEveryEndpoint: true,
  },
  {
    status: 404,
    code: 'not_found',
    detail: 'There is nothing at this path. See {basePath}/docs for the endpoints.',
  },
  {
    status: 405,
    code: 'method_not_allowed',
    detail: 'This path does not support this method. Use one listed in the Allow header.',
  },
  {
    status: 412,
    code: 'precondition_failed',
    detail:
      'The current file does not meet the If-Match or If-Unmodified-Since header of the request. Send the request without it.',
  },
  {
    status: 413,
    code: 'file_too_large',
    detail: 'The request body is larger than this service accepts. Send a smaller file.',
  },
  {
    status: 416,
    code: 'range_not_satisfiable',
    detail:
      'The file ends before the range that the request asks for. Send the request without a Range header.',
  },
  {
    status: 421,
    nginxStatus: 591,
    code: 'unknown_host',
    definition: {
      title: 'Unknown host name',
      retryable: false,
      cause: 'The `Host` header has a name that this server was not told about.',
      remedy: 'Use the IP address. If you run this server: list the name in ALLOWED_HOSTS.',
    },
    detail:
      'This server does not know the host name of the request. Use its IP address instead. If you run this server: list the name in ALLOWED_HOSTS.',
    atEveryEndpoint: true,
  },
  { status: 429, code: 'rate_limited', retryAfterSeconds: 2, atEveryEndpoint: true },
  {
    status: 500,
    code: 'internal_error',
    detail: 'The gateway failed unexpectedly. Report it with the requestId.',
  },
  {
    status: 500,
    nginxStatus: 590,
    code: 'internal_error',
    detail:
      'The gateway cannot read its file of access keys. Try again later. If you run this server: check that the file in API_KEYS_FILE exists and that the gateway may read it.',
  },
  {
    status: 502,
    code: 'service_unavailable',
    definition: {
      title: 'The service does not respond',
      retryable: true,
      cause: 'The service behind the gateway is starting, restarting or stopped.',
      remedy: 'Wait for the number of seconds in `Retry-After`; `/api/health` shows which service it is.',
    },
    retryAfterSeconds: 5,
    detail:
      'The service behind the gateway is not reachable: it is starting, restarting or stopped. Try again in a few seconds; {basePath}/api/health shows which service it is.',
    atEveryEndpoint: true,
  },
  {
    status: 503,
    code: 'overloaded',
    retryAfterSeconds: 5,
    detail: 'The gateway cannot accept this request now. Try again in a few seconds.',
  },
  {
    status: 504,
    code: 'timeout',
    detail: "The service did not respond within the gateway's deadline. Try again later.",
    atEveryEndpoint: true,
  },
];

/** Codes that only the gateway returns. */
export const gatewayErrors = gatewayProblems.flatMap(({ status, code, definition }): DocumentedError[] =>
  definition === undefined ? [] : [{ code, status, ...definition, origins: ['gateway'] }],
);

/** Renders `njs/problems.js`, by nginx's status, in the syntax of njs 0.7.9 (nginx 1.22). */
export function renderGatewayProblems(errors: readonly DocumentedError[]): string {
  const documented = new Map(errors.map((each) => [each.code, each]));
  const problems = gatewayProblems.map(
    ({ status, nginxStatus, code, detail, retryAfterSeconds, errors: fields }) => {
      const { title, retryable } = documented.get(code) ?? {};
      if (title === undefined) throw new Error(`No table defines the code ${code}.`);
      const answered = nginxStatus === undefined ? undefined : status;
      const problem = { status: answered, code, title, retryable, retryAfterSeconds, detail, errors: fields };
      return [nginxStatus ?? status, problem];
    },
  );
  return [
    '// Built from src/errors/gateway-errors.ts. Edit that file instead.',
    `export default ${JSON.stringify(Object.fromEntries(problems), null, 2)};\n`,
  ].join('\n');
}
