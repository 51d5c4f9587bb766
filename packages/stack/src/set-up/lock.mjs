import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './stack/stack-records.mjs';
import { systemErrorCode } from './user-error.mjs';

const pollMs = 200;

/**
 * Runs work that two commands must not do at the same time in one checkout. The second command
 * waits and reports the first one's process id. Takes over the lock of a killed command.
 * @template T
 * @param {string} file contains the process id of the lock's owner
 * @param {(text: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, say, work) {
  mkdirSync(dirname(file), { recursive: true });
  let said = false;
  while (!take(file)) {
    const owner = ownerOf(file);
    if (owner !== undefined && !isAlive(owner)) rmSync(file, { force: true });
    else {
      if (!said)
        say(`Another command is setting up this checkout (process ${owner}); waiting until it is done.`);
      said = true;
      await delay(pollMs);
    }
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** @param {string} file */
function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} file
 * @returns {number | undefined} undefined if the file is missing or not yet written
 */
function ownerOf(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
