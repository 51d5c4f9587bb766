import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onStop } from './run-command.mjs';
import { isRunning, startOf } from './stack/stack-records.mjs';
import { systemErrorCode } from './user-error.mjs';

const pollMs = 200;
/** A lock without an owner is being written, or its disk was full. */
const writtenWithinMs = 10_000;

/**
 * Runs work that two commands must not do at the same time in one checkout. The second command
 * waits and reports the first one's process id. Takes over the lock of a killed command.
 * @template T
 * @param {string} file contains the process id of the lock's owner, and when it started
 * @param {(text: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, say, work) {
  mkdirSync(dirname(file), { recursive: true });
  let said = false;
  while (!take(file)) {
    const owner = ownerOf(file);
    if (owner === undefined ? isOld(file) : !isRunning(owner.pid, owner.start)) rmSync(file, { force: true });
    else {
      if (!said)
        say(`Another command is setting up this checkout (process ${owner?.pid}); waiting until it is done.`);
      said = true;
      await delay(pollMs);
    }
  }
  const release = () => rmSync(file, { force: true });
  const done = onStop(release);
  try {
    return await work();
  } finally {
    done();
    release();
  }
}

/** @param {string} file */
function take(file) {
  try {
    writeFileSync(file, [process.pid, startOf(process.pid)].join(' '), { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} file
 * @returns {{ pid: number, start: string | undefined } | undefined} undefined if the file is missing or not yet written
 */
function ownerOf(file) {
  try {
    const [pid, start] = readFileSync(file, 'utf8').split(' ');
    return Number(pid) > 0 ? { pid: Number(pid), start: start || undefined } : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** @param {string} file */
function isOld(file) {
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
  return Date.now() - mtimeMs > writtenWithinMs;
}
