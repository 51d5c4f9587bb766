// nginx's own error responses as problem+json. The code is limited to njs 0.7.9 (nginx 1.22).

import problems from './problems.js';

/**
 * @typedef {object} Definition
 * @property {string} code
 * @property {string} title
 * @property {boolean} retryable
 * @property {number} [status]
 * @property {string} [detail]
 * @property {number} [retryAfterSeconds]
 * @property {{ field: string, message: string }[]} [errors]
 */

/** @type {Record<number, Definition>} */
const definitions = problems;

/** The allowed methods of a path, for methods that nginx itself rejects, such as TRACE. */
function allowedMethods(/** @type {string} */ uri) {
  return /\/api\/remove-background$/.test(uri) ? 'POST' : 'GET, HEAD';
}

/** Concurrency limits per client, by path. */
const concurrencyLimits = [
  { path: /\/api\/info$/i, variable: 'lookups_per_client', what: 'requests for details' },
  { path: /\/api\/remove-background$/, variable: 'images_per_client', what: 'images' },
  { path: /^(\/video-dl)?\/api\//, variable: 'streams_per_client', what: 'streams' },
  { path: /^/, variable: 'requests_per_client', what: 'requests' },
];

/** Why this client was rejected, and how to get more if the operator says so. */
function rateLimitDetail(/** @type {NginxHTTPRequest} */ r, /** @type {Definition} */ definition) {
  const limit = concurrencyLimits.filter((each) => each.path.test(r.uri))[0];
  const count = Number(r.variables[limit.variable]);
  const what = count === 1 ? limit.what.replace(/s\b/, '') : limit.what;
  const client = /^[^!]/.test(r.variables.api_key) ? 'This key' : 'This client IP';
  const reason =
    r.variables.limit_conn_status === 'REJECTED'
      ? client + ' already has ' + count + ' ' + what + ' running. Wait until one has finished.'
      : client +
        ' has sent too many requests in the last minute. Try again in ' +
        retryAfterSeconds(r, definition) +
        ' s.';
  const contact = process.env.OPERATOR_CONTACT;
  return contact ? reason + ' For more, contact the operator: ' + contact + '.' : reason;
}

/** At fewer than 30 requests per minute, the next one is possible later than the default says. */
function retryAfterSeconds(/** @type {NginxHTTPRequest} */ r, /** @type {Definition} */ definition) {
  const least = definition.retryAfterSeconds || 0;
  const isVideo = /^(\/video-dl\/api|\/api\/(info|stream))\//.test(r.uri + '/');
  if (!isVideo || r.variables.limit_req_status !== 'REJECTED') return least;
  return Math.max(least, Math.ceil(60 / Number(r.variables.video_requests_per_minute)));
}

function detailOf(/** @type {NginxHTTPRequest} */ r, /** @type {Definition} */ definition) {
  return (definition.detail || '').replace('{basePath}', r.variables.gateway_base_path);
}

function problemType(/** @type {NginxHTTPRequest} */ r, /** @type {string} */ code) {
  return r.variables.gateway_base_path + '/docs/errors#' + code.replace(/_/g, '-');
}

/**
 * nginx checks a range after it has added the headers of the file. The problem's own headers would be
 * added to them.
 */
function removeHeadersOfFile(/** @type {NginxHTTPRequest} */ r) {
  const range = r.headersOut['Content-Range'];
  Object.keys(r.headersOut).forEach((name) => {
    delete r.headersOut[name];
  });
  r.headersOut['Content-Range'] = range;
}

/** Sends the problem for a status of nginx. */
function send(/** @type {NginxHTTPRequest} */ r, /** @type {number} */ status) {
  if (status === 416) removeHeadersOfFile(r);
  const definition = definitions[status] || definitions[status < 500 ? 400 : 500];
  const answeredStatus = definition.status || status;
  const problem = {
    type: problemType(r, definition.code),
    title: definition.title,
    status: answeredStatus,
    detail: answeredStatus === 429 ? rateLimitDetail(r, definition) : detailOf(r, definition),
    code: definition.code,
    retryable: definition.retryable,
    requestId: r.variables.gateway_request_id,
    errors: definition.errors,
  };
  if (definition.retryAfterSeconds) r.headersOut['Retry-After'] = String(retryAfterSeconds(r, definition));
  if (answeredStatus === 401) r.headersOut['WWW-Authenticate'] = challenge(r);
  if (answeredStatus === 405) r.headersOut['Allow'] = allowedMethods(r.uri);
  r.headersOut['Content-Type'] = 'application/problem+json';
  r.headersOut['Cache-Control'] = 'no-store';
  r.return(answeredStatus, JSON.stringify(problem));
}

/**
 * Players send the name and password of a URL only after a Basic challenge, some only if it comes
 * first. A browser would ask for a password over the web page, which has its own field for the key
 * (we can't use `Sec-Fetch-Mode`, which browsers don't send over plain HTTP).
 */
function challenge(/** @type {NginxHTTPRequest} */ r) {
  const isBrowser = /^Mozilla\//.test(r.headersIn['User-Agent'] || '');
  return isBrowser ? 'Bearer' : 'Basic realm="key as the password", Bearer';
}

/** Handler for error_page; `$status` is nginx's original status. */
function answer(/** @type {NginxHTTPRequest} */ r) {
  send(r, Number(r.variables.status));
}

/** The path ends in nginx's own status for the problem. */
function byPath(/** @type {NginxHTTPRequest} */ r) {
  send(r, Number(r.uri.slice(r.uri.lastIndexOf('/') + 1)));
}

function unauthorized(/** @type {NginxHTTPRequest} */ r) {
  send(r, r.variables.api_keys_unreadable === 'yes' ? 590 : 401);
}

/**
 * Whether no replica has started this request, so that a retry repeats no work. This happens if
 * a replica vanishes and the list of replicas changes while the connection to it times out;
 * nginx then doesn't try the others.
 */
function notStartedByAnyService(/** @type {NginxHTTPRequest} */ r) {
  const reads = r.method === 'GET' || r.method === 'HEAD';
  // A subrequest (merged health) can't be redirected and doesn't have to be.
  return reads && r.parent === undefined && !/\d/.test(r.variables.upstream_connect_time || '');
}

function retryOrSend(/** @type {NginxHTTPRequest} */ r, /** @type {number} */ status) {
  if (!notStartedByAnyService(r) || r.variables.gateway_tried_again === 'yes') return send(r, status);
  r.variables.gateway_tried_again = 'yes';
  // Not `$request_uri`, which nginx would not decode and simplify again.
  const query = r.variables.args;
  r.internalRedirect(query ? r.uri + '?' + query : r.uri);
}

function badGateway(/** @type {NginxHTTPRequest} */ r) {
  retryOrSend(r, 502);
}

function gatewayTimeout(/** @type {NginxHTTPRequest} */ r) {
  retryOrSend(r, 504);
}

export default { answer, badGateway, byPath, gatewayTimeout, send, unauthorized };
