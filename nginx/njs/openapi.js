// The OpenAPI document with the gateway's address in `servers`, as this client sees it: programs that
// import the document from a file or from another URL can't resolve a relative address.

import fs from 'fs';
import problem from './problem.js';

const placeholder = 'http://gateway.invalid';
const hostPattern = /^[A-Za-z0-9._~-]+(:\d+)?$|^\[[0-9A-Fa-f:.]+\](:\d+)?$/;

/** Only a proxy in TRUSTED_PROXIES may say how the client reached it. */
function addressOf(/** @type {NginxHTTPRequest} */ r) {
  const isProxied = r.variables.realip_remote_addr !== r.variables.remote_addr;
  const proto = isProxied ? r.headersIn['X-Forwarded-Proto'] : '';
  const host = (isProxied && r.headersIn['X-Forwarded-Host']) || r.headersIn['Host'] || '';
  const scheme = /^https?$/.test(proto || '') ? proto : r.variables.scheme;
  const basePath = r.variables.gateway_base_path;
  return scheme + '://' + (hostPattern.test(host) ? host : r.variables.host) + basePath;
}

function send(/** @type {NginxHTTPRequest} */ r) {
  if (r.method !== 'GET' && r.method !== 'HEAD') {
    problem.send(r, 405);
    return;
  }
  const isYaml = /\.yaml$/.test(r.uri);
  const file = r.variables.gateway_root + '/html/docs/openapi.' + (isYaml ? 'yaml' : 'json');
  r.headersOut['Content-Type'] = isYaml ? 'application/yaml' : 'application/json';
  r.headersOut['Cache-Control'] = 'no-cache';
  r.return(200, fs.readFileSync(file).toString().replace(placeholder, addressOf(r)));
}

export default { send };
