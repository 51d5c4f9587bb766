import { mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onStop } from './run-command.mjs';
import { isRunning, processName } from './stack-processes.mjs';
import { systemErrorCode } from './user-error.mjs';

/**
 * Runs work that only one command at a time may do in a checkout. A second command waits and
 * reports the process id of the first. The lock of a killed command is taken over.
 * @template T
 * @param {string} file a symbolic link that points to its owner's name: creating one is atomic
 * @param {(text: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, say, work) {
  mkdirSync(dirname(file), { recursive: true });
  let said = false;
  while (!take(file)) {
    const owner = ownerOf(file);
    if (owner === undefined) continue;
    if (!isRunning(owner)) rmSync(file, { force: true });
    else {
      const pid = owner.split('-')[0];
      if (!said)
        say(`Another command is setting up this checkout (process ${pid}); waiting until it is done.`);
      said = true;
      await delay(200);
    }
  }
  const release = () => {
    if (ownerOf(file) === processName()) rmSync(file, { force: true });
  };
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

/**
 * The owner's name; empty if the file is not a link, and undefined if there is no lock any more.
 * @param {string} file
 */
function ownerOf(file) {
  try {
    return readlinkSync(file);
  } catch (error) {
    return systemErrorCode(error) === 'ENOENT' ? undefined : '';
  }
}
