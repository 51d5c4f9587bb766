// API keys of clients (API_KEYS_FILE). Without the file everything is public. Changes of the file
// take effect at once. The code is limited to njs 0.7.9 (nginx 1.22), which has no memory between
// requests and needs 2 ms to search a file of 10 000 keys. So we keep a sorted index in the run
// directory, and a wrong key costs no more than any other request.

import crypto from 'crypto';
import fs from 'fs';

/**
 * `name  sha256-of-the-key  images=60 videos=120`; settings.awk validates the same format at start.
 * Some editors put a byte order mark before the first line.
 */
const linePattern =
  /^[\ufeff \t]*([A-Za-z0-9_.-]{1,64})\s+([0-9a-f]{64})((?:\s+(?:images|videos)=\d{1,6})*)\s*$/;
/** Longer than any valid line without extra spaces; settings.awk rejects longer ones. */
const maxLineBytes = 512;

/** An index has a header (the state of its source file, the number of keys) and one record per key. */
const headerBytes = 128;
/** The hash and the offset of its line. */
const recordBytes = 80;
const hashBytes = 64;
/** A file may change twice within one timestamp tick. Until the tick has passed, we create no index. */
const settledMs = 2000;

/** The value of `$api_key` if a key is required and the request has no valid one. */
const refused = '!';

/**
 * The name of the client, an empty string if everything is public, or `refused`. Sets the
 * client's own limits in `$api_key_images` and `$api_key_videos`.
 */
function identify(r) {
  const file = process.env.API_KEYS_FILE;
  if (!file) return '';
  const sent = sentKey(r);
  if (sent === null) return refused;
  const hash = crypto.createHash('sha256').update(sent).digest('hex');
  let found;
  try {
    found = findLine(r, file, hash);
  } catch (error) {
    r.error('API_KEYS_FILE cannot be read, so every key is rejected: ' + error);
    r.variables.api_keys_unreadable = 'yes';
    return refused;
  }
  if (found === null) return refused;
  r.variables.api_key_images = limitOf(found[3], 'images');
  r.variables.api_key_videos = limitOf(found[3], 'videos');
  return found[1];
}

/** The parsed line for a hash, or null. We compare hashes, so timing reveals nothing about keys. */
function findLine(r, file, hash) {
  const index = r.variables.gateway_run_dir + '/keys.index';
  const stats = fs.statSync(file);
  const state = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
  const isSettled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > settledMs;
  if (!isSettled || !(isCurrent(r, index, state) || makeIndex(r, file, index, state)))
    return searchAll(file, hash);
  const start = lookUp(index, hash);
  return start === null ? null : partsOf(readAt(file, start, maxLineBytes), hash);
}

function partsOf(text, hash) {
  const parts = linePattern.exec(text.split('\n', 1)[0]);
  return parts !== null && parts[2] === hash ? parts : null;
}

function searchAll(file, hash) {
  const bytes = fs.readFileSync(file);
  for (let at = bytes.indexOf(hash); at !== -1; at = bytes.indexOf(hash, at + 1)) {
    const start = bytes.lastIndexOf('\n', at) + 1;
    const parts = partsOf(bytes.slice(start, start + maxLineBytes).toString(), hash);
    // The hash may also occur as a name or in a comment.
    if (parts !== null) return parts;
  }
  return null;
}

function isCurrent(r, index, state) {
  try {
    return readAt(index, 0, headerBytes).split('\n', 1)[0] === state;
  } catch (error) {
    r.log('There is no index of the keys yet: ' + error);
    return false;
  }
}

/** @returns whether the index could be written */
function makeIndex(r, file, index, state) {
  const draft = index + '.' + process.pid;
  try {
    // Open the file first, so that a full or read-only disk doesn't cost every request the work
    // below.
    fs.writeFileSync(draft, '', { mode: 0o600 });
    const records = [];
    const bytes = fs.readFileSync(file);
    for (let start = 0; start < bytes.length;) {
      const newline = bytes.indexOf('\n', start);
      const end = newline === -1 ? bytes.length : newline;
      const parts = linePattern.exec(bytes.slice(start, Math.min(end, start + maxLineBytes)).toString());
      // After sorting, the first line of a key comes first.
      if (parts !== null) records.push(parts[2] + ('' + start).padStart(recordBytes - hashBytes));
      start = end + 1;
    }
    records.sort();
    const header = (state + '\n' + records.length + '\n').padEnd(headerBytes);
    fs.writeFileSync(draft, header + records.join(''), { mode: 0o600 });
    fs.renameSync(draft, index);
    return true;
  } catch (error) {
    r.log('The index of the keys cannot be written: ' + error);
    return false;
  }
}

/** The offset of a hash's line, or null. */
function lookUp(index, hash) {
  const descriptor = fs.openSync(index);
  try {
    let low = 0;
    let high = Number(readFrom(descriptor, 0, headerBytes).split('\n', 2)[1]);
    while (low < high) {
      const middle = (low + high) >> 1;
      const record = readFrom(descriptor, headerBytes + middle * recordBytes, recordBytes);
      if (record.slice(0, hashBytes) < hash) low = middle + 1;
      else high = middle;
    }
    const record = readFrom(descriptor, headerBytes + low * recordBytes, recordBytes);
    return record.slice(0, hashBytes) === hash ? Number(record.slice(hashBytes)) : null;
  } finally {
    fs.closeSync(descriptor);
  }
}

function readAt(file, position, length) {
  const descriptor = fs.openSync(file);
  try {
    return readFrom(descriptor, position, length);
  } finally {
    fs.closeSync(descriptor);
  }
}

function readFrom(descriptor, position, length) {
  const bytes = Buffer.alloc(length);
  const count = fs.readSync(descriptor, bytes, 0, length, position);
  return bytes.slice(0, count).toString();
}

/**
 * The key of a request, or null. For downloads by the browser, the web page sends it as a
 * cookie (SameSite=Strict, for a minute), because a link can't have headers. The cookie is only
 * valid for reading a stream.
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
