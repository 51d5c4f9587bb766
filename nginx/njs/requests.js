// Values for the access log and the metrics. The code is limited to njs 0.7.9 (nginx 1.22);
// `ngx.shared`, for the metrics, exists only in the container.

/**
 * How a request ended: `ok`, `failed` (error response), `aborted` (the client left), or
 * `truncated`. nginx considers a response complete even if its service truncated it. We detect
 * that by Content-Length. A response without one is `unknown` here; the service's log line with
 * the same requestId has its outcome.
 */
function outcome(/** @type {NginxHTTPRequest} */ r) {
  const variables = r.variables;
  const status = Number(variables.status);
  if (status === 499) return 'aborted';
  if (status >= 400) return 'failed';
  if (variables.request_completion !== 'OK') return 'aborted';
  const isBodiless = variables.request_method === 'HEAD' || status === 204 || status === 304;
  if (isBodiless || !variables.upstream_status) return 'ok';
  const stated = variables.sent_http_content_length;
  if (!stated) return 'unknown';
  return Number(variables.body_bytes_sent) >= Number(stated) ? 'ok' : 'truncated';
}

/** The route of a request, one of a few fixed labels that the client can't control. */
function routeOf(/** @type {NginxHTTPRequest} */ r) {
  const path = r.variables.request_path.replace(r.variables.gateway_base_path, '');
  const match =
    /^(?:\/(?:video-dl|bg-removal))?(\/api\/(?:info|stream\/video|stream|remove-background|health))$/.exec(
      path,
    );
  if (match !== null) return match[1];
  return path.startsWith('/api/') ? 'other' : 'page';
}

/** As the services log it: UTC with milliseconds. */
function time() {
  return new Date().toISOString();
}

function durationMs(/** @type {NginxHTTPRequest} */ r) {
  return String(Math.round(Number(r.variables.request_time) * 1000));
}

/** Until the service's last response header; empty if none responded. Retries are separated by commas. */
function upstreamHeaderMs(/** @type {NginxHTTPRequest} */ r) {
  const last = (r.variables.upstream_header_time || '').split(/[,:] */).pop() || '';
  return /^\d/.test(last) ? String(Math.round(Number(last) * 1000)) : '';
}

/** Counts a request. Used as a log condition; its return value is not logged. */
function count(/** @type {NginxHTTPRequest} */ r) {
  const labels = ['route="' + routeOf(r), 'status="' + r.variables.status, 'outcome="' + r.variables.outcome];
  ngx.shared.requests.incr(labels.join('",') + '"', 1, 0);
  return '';
}

/** GET /metrics on the gateway's own port, in Prometheus's text format. */
function metrics(/** @type {NginxHTTPRequest} */ r) {
  const lines = [
    '# HELP media_gateway_requests_total Finished requests, except health checks that found everything well.',
    '# TYPE media_gateway_requests_total counter',
  ];
  ngx.shared.requests.items().forEach((item) => {
    lines.push('media_gateway_requests_total{' + item[0] + '} ' + item[1]);
  });
  lines.push('# HELP media_gateway_connections Connections of clients and services that are open.');
  lines.push('# TYPE media_gateway_connections gauge');
  ['active', 'reading', 'writing', 'waiting'].forEach((state) => {
    lines.push('media_gateway_connections{state="' + state + '"} ' + r.variables['connections_' + state]);
  });
  r.headersOut['Content-Type'] = 'text/plain; version=0.0.4';
  r.return(200, lines.join('\n') + '\n');
}

export default { count, durationMs, metrics, outcome, routeOf, time, upstreamHeaderMs };
