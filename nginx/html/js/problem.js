import { errorText } from './texts.js';

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
    ...errorText('unreadable', { status }),
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
  return { ...errorText('unreachable'), retryable: true };
}

/** The same problem in words for the people who use the page; the server's own where its code is unknown here. */
export function inLayWords(problem) {
  const { title, detail } = { ...problem, ...errorText(problem.code) };
  return { ...problem, title, detail: detail.replaceAll('`', '') };
}

/** Whether the reader cancelled, which is not a problem. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}
