// Keys of clients (API_KEYS_FILE). Without the file everything is public. Each request
// searches the file for the hash of its key, so that a change counts at once: 10 000
// lines take a few milliseconds. njs here keeps to what nginx 1.22's njs 0.7.9 knows.

import crypto from 'crypto';
import fs from 'fs';

/** `name  sha256-of-the-key  images=60 videos=120`; settings.awk checks the same form at start. */
const linePattern = /^([A-Za-z0-9_.-]{1,64})\s+([0-9a-f]{64})((?:\s+(?:images|videos)=\d{1,6})*)\s*$/;

/** What `$api_key` is where a key is needed and none of the file's was sent. */
const refused = '!';

/**
 * The name of the client, nothing where everything is public, or `refused`. Leaves the
 * client's own limits in `$api_key_images` and `$api_key_videos`.
 */
function identify(r) {
  const file = process.env.API_KEYS_FILE;
  if (!file) return '';
  const sent = sentKey(r);
  if (sent === null) return refused;
  const hash = crypto.createHash('sha256').update(sent).digest('hex');
  let bytes;
  try {
    bytes = fs.readFileSync(file);
  } catch (error) {
    r.error('API_KEYS_FILE cannot be read, so every key is rejected: ' + error);
    return refused;
  }
  const found = lineWith(bytes, hash);
  if (found === null) return refused;
  r.variables.api_key_images = limitOf(found[3], 'images');
  r.variables.api_key_videos = limitOf(found[3], 'videos');
  return found[1];
}

/**
 * The parts of the line for a hash, or null. The search compares hashes, so its duration
 * tells nothing useful about the keys.
 */
function lineWith(bytes, hash) {
  for (let at = bytes.indexOf(hash); at !== -1; at = bytes.indexOf(hash, at + 1)) {
    const start = bytes.lastIndexOf('\n', at) + 1;
    const end = bytes.indexOf('\n', at);
    const parts = linePattern.exec(bytes.slice(start, end === -1 ? bytes.length : end).toString());
    // The hash may also be a name or part of a comment.
    if (parts !== null && parts[2] === hash) return parts;
  }
  return null;
}

/**
 * The key of a request, or null. The web page sends it as a cookie (SameSite=Strict, for
 * a minute) where the browser itself downloads, since a link can have no headers; so it
 * counts for nothing but reading a stream.
 */
function sentKey(r) {
  const header = r.headersIn['Authorization'];
  if (header) {
    const bearer = /^Bearer +(\S+) *$/i.exec(header);
    return bearer === null ? null : bearer[1];
  }
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

function limitOf(text, name) {
  const found = new RegExp(name + '=(\\d+)').exec(text);
  return found === null ? '' : found[1];
}

export default { identify };
