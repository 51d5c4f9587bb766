import { errorText } from './texts.js';

/**
 * A failed request, with the members of a problem document (RFC 9457): `title`, `detail`,
 * `errors` by field, `type` (its documentation), `requestId`, and `retryAfterSeconds` if the
 * response has it.
 */
export class RequestFailed extends Error {
  constructor(problem) {
    super(problem.detail);
    this.name = 'RequestFailed';
    this.problem = problem;
  }
}

/** Parses the problem in the body of a failed response. */
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

/** Whether the server did what was asked. The login page of a network or proxy isn't from the server. */
export function isSuccess({ ok, headers }) {
  return ok && !/^text\/html/.test(headers.get('Content-Type'));
}

/** @throws RequestFailed with the problem, unless the response is a success */
export async function ensureSuccess(response) {
  if (isSuccess(response)) return response;
  const body = await response.text();
  throw new RequestFailed(
    parseProblem(body, { status: response.status, retryAfter: response.headers.get('Retry-After') }),
  );
}

/** The problem to show for any thrown value. */
export function problemOf(error) {
  if (error instanceof RequestFailed) return error.problem;
  // Besides aborts, only files throw these: no space, or no permission.
  const what = error instanceof DOMException ? errorText('unwritable') : errorText('unreachable');
  return { ...what, retryable: true };
}

/** The problem in user-friendly words; the server's own text if its code is unknown. */
export function userMessage(problem) {
  const { title, detail } = { ...problem, ...errorText(problem.code) };
  return { ...problem, title, detail: detail.replaceAll('`', '') };
}

/** Whether the user cancelled, which is not a problem. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}
