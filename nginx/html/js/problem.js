import { errorText, errorTextOf } from './texts.js';

/**
 * The members of a problem document (RFC 9457) that the page uses. `type` is its documentation.
 * @typedef {object} Problem
 * @property {string} title
 * @property {string} detail
 * @property {number} [status]
 * @property {string} [code]
 * @property {boolean} [retryable]
 * @property {string} [type]
 * @property {string} [requestId]
 * @property {{ field: string, message: string }[]} [errors]
 * @property {number} [retryAfterSeconds]
 */

/** The server responded with a problem. */
export class RequestFailed extends Error {
  name = 'RequestFailed';

  constructor(/** @type {Problem} */ problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** There was no response, or it ended too early. */
export class ConnectionLost extends Error {
  name = 'ConnectionLost';
}

/**
 * Fetches a URL.
 * @param {string} url @param {RequestInit} options
 * @throws {RequestFailed | ConnectionLost}
 */
export async function request(url, options) {
  const response = await fetch(url, { cache: 'no-store', ...options }).catch((error) => {
    throw isAbort(error) ? error : new ConnectionLost('No response', { cause: error });
  });
  if (isSuccess(response)) return response;
  const body = await response.text().catch(() => '');
  throw new RequestFailed(
    parseProblem(body, { status: response.status, retryAfter: response.headers.get('Retry-After') }),
  );
}

/**
 * Parses the problem in the body of a failed response.
 * @param {string} body @param {{ status: number, retryAfter: string | null }} response
 * @returns {Problem}
 */
export function parseProblem(body, { status, retryAfter }) {
  const seconds = Number(retryAfter);
  const known = { status, ...(retryAfter && Number.isFinite(seconds) && { retryAfterSeconds: seconds }) };
  try {
    const document = JSON.parse(body);
    if (typeof document?.detail === 'string' && typeof document?.title === 'string') {
      return { ...document, ...known };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { ...errorTextOf('unreadable', { status }), retryable: true, ...known };
}

/** The login page of a network or proxy isn't from the server. */
function isSuccess(/** @type {Response} */ { ok, headers }) {
  return ok && !/^text\/html/.test(headers.get('Content-Type') ?? '');
}

/**
 * The problem to show for any thrown value.
 * @param {unknown} error
 * @returns {Problem}
 */
export function problemOf(error) {
  if (error instanceof RequestFailed) return error.problem;
  // Besides aborts, only files throw these: no space, or no permission.
  const what = error instanceof DOMException ? errorTextOf('unwritable') : errorTextOf('unreachable');
  return { ...what, retryable: true };
}

/** The problem in user-friendly words; the server's own text if its code is unknown. */
export function userMessage(/** @type {Problem} */ problem) {
  const { title, detail } = { ...problem, ...(problem.code && errorText(problem.code)) };
  return { ...problem, title, detail: detail.replaceAll('`', '') };
}

/** Whether the user cancelled, which is not a problem. */
export function isAbort(/** @type {unknown} */ error) {
  return error instanceof DOMException && error.name === 'AbortError';
}
