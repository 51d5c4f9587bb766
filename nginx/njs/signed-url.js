// URLs signed with a key, for programs that can send no header: `…&expires=TIME&signature=ID.MAC` at
// the end of the query. TIME is in seconds since 1970. ID is the beginning of the key's SHA-256, which
// says which key it is. MAC is the HMAC-SHA256 of everything before `&signature`, beginning with
// `/api/` (so without BASE_PATH), with the key's SHA-256 as the HMAC's key. Both in lower-case
// hexadecimal digits. Nothing is stored, so a client signs without asking the server.

import crypto from 'crypto';

/** @typedef {{ signed: string, args: string, expires: number, keyId: string, mac: string }} Signature */

const readsVideo = /^(?:\/video-dl)?\/api\/(?:info|stream|stream\/video)\?/;
const queryPattern = /^([^#]*?)&?expires=(\d{1,12})&signature=([0-9a-f]{16})\.([0-9a-f]{64})$/;

/** The parts of a signed URL, or null if the URL isn't signed. */
function signatureOf(/** @type {NginxHTTPRequest} */ r) {
  if (r.method !== 'GET' && r.method !== 'HEAD') return null;
  const basePath = r.variables.gateway_base_path;
  const uri = r.variables.request_uri || '';
  const target = basePath && uri.startsWith(basePath + '/') ? uri.slice(basePath.length) : uri;
  if (!readsVideo.test(target)) return null;
  const parts = queryPattern.exec(target.slice(target.indexOf('?') + 1));
  if (parts === null) return null;
  return {
    signed: target.slice(0, target.lastIndexOf('&signature=')),
    args: parts[1],
    expires: Number(parts[2]),
    keyId: parts[3],
    mac: parts[4],
  };
}

/** @param hash the SHA-256 of the key that the URL names */
function isValid(/** @type {Signature} */ signature, /** @type {string} */ hash) {
  const mac = crypto.createHmac('sha256', hash).update(signature.signed).digest('hex');
  return isSame(mac, signature.mac) && signature.expires * 1000 > Date.now();
}

/** Takes the same time wherever the texts differ. Both have the same length. */
function isSame(/** @type {string} */ left, /** @type {string} */ right) {
  let difference = 0;
  for (let index = 0; index < left.length; index += 1) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  }
  return difference === 0;
}

export default { isValid, signatureOf };
