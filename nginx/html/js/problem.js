/**
 * What went wrong, in the words of a problem document (RFC 9457):
 * `title`, `detail`, `errors` by field, `type` (its documentation), `requestId`,
 * and `retryAfterSeconds` where the answer says how long to wait.
 */
export class RequestFailed extends Error {
  constructor(problem) {
    super(problem.detail);
    this.name = 'RequestFailed';
    this.problem = problem;
  }
}

/** The problem in the body of a failed answer. */
export function parseProblem(body, { status, retryAfter }) {
  const seconds = Number(retryAfter);
  const waiting = retryAfter && Number.isFinite(seconds) ? { retryAfterSeconds: seconds } : {};
  try {
    const document = JSON.parse(body);
    if (typeof document?.detail === 'string' && typeof document?.title === 'string') {
      return { ...document, ...waiting };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return {
    title: 'The server sent a response this page can’t read',
    detail: `Its status was ${status}. Try again in a moment.`,
    retryable: true,
    ...waiting,
  };
}

/** @throws RequestFailed with the problem of an answer that is not a success */
export async function ensureSuccess(response) {
  if (response.ok) return response;
  const body = await response.text();
  throw new RequestFailed(
    parseProblem(body, { status: response.status, retryAfter: response.headers.get('Retry-After') }),
  );
}

/** What to show for anything that was thrown. */
export function problemOf(error) {
  if (error instanceof RequestFailed) return error.problem;
  return {
    title: 'Can’t reach the server',
    detail: 'Check your connection, then try again.',
    retryable: true,
  };
}

/** Whether the reader cancelled, which is not a problem. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}
