// GET /api/health: the health of all services in one response.

import problem from './problem.js';

/** @typedef {{ status: string }} Report */

/** A service's own report, or `down` if it gives none. */
function reportOf(/** @type {NginxHTTPRequest} */ r, /** @type {NginxHTTPRequest} */ reply) {
  if (reply.status !== 200 && reply.status !== 503) return { status: 'down' };
  try {
    const report = JSON.parse(reply.responseText || '');
    return report && report.checks ? report : { status: 'down' };
  } catch (error) {
    r.warn('not a health report, is something else listening there? ' + error);
    return { status: 'down' };
  }
}

function overall(/** @type {NginxHTTPRequest[]} */ replies, /** @type {Report[]} */ reports) {
  if (!replies.every((reply) => reply.status === 200)) return 'error';
  if (!reports.every((report) => report.status === 'ok' || report.status === 'degraded')) return 'error';
  return reports.every((report) => report.status === 'ok') ? 'ok' : 'degraded';
}

/** The gateway's own limits for each client, named like their settings; 0 for no limit. */
function limits(/** @type {NginxHTTPRequest['variables']} */ variables) {
  return {
    videoRequestsPerMinute: Number(variables.video_limit),
    streamsPerClient: Number(variables.streams_per_client),
    lookupsPerClient: Number(variables.lookups_per_client),
    imagesPerClient: Number(variables.images_per_client),
  };
}

function features() {
  return { accessKeys: Boolean(process.env.API_KEYS_FILE) };
}

async function merged(/** @type {NginxHTTPRequest} */ r) {
  if (r.method !== 'GET' && r.method !== 'HEAD') {
    problem.send(r, 405);
    return;
  }
  const services = r.variables.gateway_services.split(',');
  const replies = await Promise.all(services.map((name) => r.subrequest('/internal/health/' + name)));
  const reports = replies.map((reply) => reportOf(r, reply));
  const status = overall(replies, reports);
  /** @type {{ status: string, limits: object, features: object, services: Record<string, Report> }} */
  const body = { status: status, limits: limits(r.variables), features: features(), services: {} };
  services.forEach((name, index) => {
    body.services[name] = reports[index];
  });
  r.headersOut['Content-Type'] = 'application/json';
  r.headersOut['Cache-Control'] = 'no-store';
  if (status === 'error') r.headersOut['Retry-After'] = '5';
  r.return(status === 'error' ? 503 : 200, JSON.stringify(body));
}

export default { merged };
