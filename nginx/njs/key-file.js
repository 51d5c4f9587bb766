// Finds a line in the file of API keys (API_KEYS_FILE). Changes of the file take effect at once. The
// code is limited to njs 0.7.9 (nginx 1.22), which has no memory between requests and needs 2 ms to
// search a file of 10 000 keys. So we keep a sorted index in the run directory, and a wrong key costs
// no more than any other request.

import fs from 'fs';

/**
 * `name  sha256-of-the-key  images=60 videos=120`; ../src/settings validates the same format at start.
 * Some editors put a byte order mark before the first line.
 */
const linePattern =
  /^[\ufeff \t]*([A-Za-z0-9_.-]{1,64})\s+([0-9a-f]{64})((?:\s+(?:images|videos)=\d{1,6})*)\s*$/;
/** Longer than any valid line without extra spaces; ../src/settings rejects longer ones. */
const maxLineBytes = 512;

/** An index has a header (the state of its source file, the number of keys) and one record per key. */
const headerBytes = 128;
/** The hash and the offset of its line. */
const recordBytes = 80;
const hashBytes = 64;
/** A file may change twice within one timestamp tick. Until the tick has passed, we create no index. */
const settledMs = 2000;

/**
 * The parsed line (name, hash, limits) whose hash begins so, or null. We compare hashes, so timing
 * reveals nothing about keys.
 */
function findLine(/** @type {NginxHTTPRequest} */ r, /** @type {string} */ file, /** @type {string} */ hash) {
  const index = r.variables.gateway_run_dir + '/keys.index';
  const stats = fs.statSync(file);
  const state = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
  const isSettled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > settledMs;
  if (!isSettled || !(isCurrent(r, index, state) || makeIndex(r, file, index, state)))
    return searchAll(file, hash);
  const start = lookUp(index, hash);
  return start === null ? null : partsOf(readAt(file, start, maxLineBytes), hash);
}

function partsOf(/** @type {string} */ text, /** @type {string} */ hash) {
  const parts = linePattern.exec(text.split('\n', 1)[0]);
  return parts !== null && parts[2].startsWith(hash) ? parts : null;
}

function searchAll(/** @type {string} */ file, /** @type {string} */ hash) {
  const bytes = fs.readFileSync(file);
  for (let at = bytes.indexOf(hash); at !== -1; at = bytes.indexOf(hash, at + 1)) {
    const start = bytes.lastIndexOf('\n', at) + 1;
    const parts = partsOf(bytes.slice(start, start + maxLineBytes).toString(), hash);
    // The hash may also occur as a name or in a comment.
    if (parts !== null) return parts;
  }
  return null;
}

function isCurrent(
  /** @type {NginxHTTPRequest} */ r,
  /** @type {string} */ index,
  /** @type {string} */ state,
) {
  try {
    return readAt(index, 0, headerBytes).split('\n', 1)[0] === state;
  } catch (error) {
    r.log('There is no index of the keys yet: ' + error);
    return false;
  }
}

/** @returns whether the index could be written */
function makeIndex(
  /** @type {NginxHTTPRequest} */ r,
  /** @type {string} */ file,
  /** @type {string} */ index,
  /** @type {string} */ state,
) {
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
function lookUp(/** @type {string} */ index, /** @type {string} */ hash) {
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
    return record.startsWith(hash) ? Number(record.slice(hashBytes)) : null;
  } finally {
    fs.closeSync(descriptor);
  }
}

function readAt(/** @type {string} */ file, /** @type {number} */ position, /** @type {number} */ length) {
  const descriptor = fs.openSync(file);
  try {
    return readFrom(descriptor, position, length);
  } finally {
    fs.closeSync(descriptor);
  }
}

function readFrom(
  /** @type {number} */ descriptor,
  /** @type {number} */ position,
  /** @type {number} */ length,
) {
  const bytes = Buffer.alloc(length);
  const count = fs.readSync(descriptor, bytes, 0, length, position);
  return bytes.slice(0, count).toString();
}

export default { findLine };
