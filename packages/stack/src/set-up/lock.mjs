import { mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onStop } from './run-command.mjs';
import { isRunning, processName } from './stack-processes.mjs';
import { systemErrorCode } from './user-error.mjs';

/**
 * Runs work that two commands must not do at the same time in one checkout. The second command
 * waits and reports the first one's process id. Takes over the lock of a killed command.
 * @template T
 * @param {string} file a symbolic link to its owner's name, because a link is created whole
 * @param {(text: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, say, work) {
  mkdirSync(dirname(file), { recursive: true });
  let said = false;
  while (!take(file)) {
    const owner = ownerOf(file);
    if (!isRunning(owner)) rmSync(file, { force: true });
    else {
      const pid = owner.split('-')[0];
      if (!said)
        say(`Another command is setting up this checkout (process ${pid}); waiting until it is done.`);
      said = true;
      await delay(200);
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
    symlinkSync(processName(), file);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} file */
function ownerOf(file) {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // released in the meantime, or not a link
  }
}
