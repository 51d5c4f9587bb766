// API keys of clients (API_KEYS_FILE). Without the file everything is public. A client sends its key
// in a header, or signs a URL with it. The code is limited to njs 0.7.9 (nginx 1.22).

import crypto from 'crypto';
import keyFile from './key-file.js';
import signedUrl from './signed-url.js';

/** The value of `$api_key` if a key is required and the request has no valid one. */
const refused = '!';

/**
 * The name of the client, an empty string if everything is public, or `refused`. Sets the
 * client's own limits in `$api_key_images` and `$api_key_videos`.
 */
function identify(/** @type {NginxHTTPRequest} */ r) {
  const file = process.env.API_KEYS_FILE;
  if (!file) return '';
  const signature = signedUrl.signatureOf(r);
  const hash = signature === null ? hashOfSentKey(r) : signature.keyId;
  if (hash === null) return refused;
  /** @type {string[] | null} */
  let found;
  try {
    found = keyFile.findLine(r, file, hash);
  } catch (error) {
    r.error('API_KEYS_FILE cannot be read, so every key is rejected: ' + error);
    r.variables.api_keys_unreadable = 'yes';
    return refused;
  }
  if (found === null) return refused;
  if (signature !== null) {
    if (!signedUrl.isValid(signature, found[2])) return refused;
    // The service knows no such parameters.
    /** @type {{ args: string }} */ (r.variables).args = signature.args;
    r.variables.is_signed = '1';
  }
  r.variables.api_key_images = limitOf(found[3], 'images');
  r.variables.api_key_videos = limitOf(found[3], 'videos');
  return found[1];
}

function hashOfSentKey(/** @type {NginxHTTPRequest} */ r) {
  const key = sentKey(r);
  return key === null ? null : crypto.createHash('sha256').update(key).digest('hex');
}

/**
 * The key of a request, or null: as a bearer token, in `X-Api-Key`, or as the password of HTTP Basic.
 * For downloads by the browser, the web page sends it as a cookie (SameSite=Strict, for a minute),
 * because a link can't have headers. The cookie is only valid for reading a stream.
 */
function sentKey(/** @type {NginxHTTPRequest} */ r) {
  const header = r.headersIn['Authorization'];
  if (header) {
    const bearer = /^Bearer +(\S+) *$/i.exec(header);
    return bearer === null ? passwordOf(header) : bearer[1];
  }
  const plain = r.headersIn['X-Api-Key'];
  if (plain) return plain;
  const readsStream = /^(GET|HEAD)$/.test(r.method) && /^(\/video-dl)?\/api\/stream(\/video)?$/.test(r.uri);
  if (!readsStream) return null;
  const cookie = /(?:^|; *)access-key=([^;\s]+)/.exec(r.headersIn['Cookie'] || '');
  try {
    return cookie === null ? null : decodeURIComponent(cookie[1]);
  } catch (error) {
    r.log('The cookie with a key is not as the page writes it: ' + error);
    return null;
  }
}

/** The password of HTTP Basic, whatever the user name; the user name if that is all there is. */
function passwordOf(/** @type {string} */ header) {
  const basic = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header);
  if (basic === null) return null;
  const pair = Buffer.from(basic[1], 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon === -1) return null;
  return pair.slice(colon + 1) || pair.slice(0, colon) || null;
}

function limitOf(/** @type {string} */ text, /** @type {string} */ name) {
  const found = new RegExp(name + '=(\\d+)').exec(text);
  return found === null ? '' : found[1];
}

export default { identify };
