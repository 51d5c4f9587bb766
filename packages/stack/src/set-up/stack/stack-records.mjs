import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolsDir } from '../project.mjs';
import { systemErrorCode, UserError } from '../user-error.mjs';
import { commandOf, killMarked } from './leftovers.mjs';

const recordsDir = join(toolsDir, 'run');

/**
 * @typedef {object} StackRecord who owns a stack and what it runs
 * @property {number} owner process id
 * @property {string} marker
 * @property {readonly number[]} groups process groups
 */

/**
 * Takes a port of the gateway for a stack of this checkout, and writes down what runs
 * there, for the case that the owner is killed so hard that it cannot stop it.
 * @param {{ port: number, marker: string }} stack
 * @throws {UserError} where another stack of this checkout has the port
 */
export function claimStack({ port, marker }, folder = recordsDir) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `stack-${port}.json`);
  const text = (/** @type {readonly number[]} */ groups) =>
    JSON.stringify({ owner: process.pid, marker, groups });
  endOrphan(file);
  try {
    writeFileSync(file, text([]), { flag: 'wx' });
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    throw new UserError(
      `A stack of this checkout is already on port ${port} (process ${readRecord(file)?.owner}). Stop it, or choose another port: PORT=8090 npm start`,
    );
  }
  return {
    /** @param {readonly number[]} groups */
    setGroups: (groups) => writeFileSync(file, text(groups)),
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * Ends what earlier runs of this checkout have left because they were killed.
 * @returns {number} how many stacks that were
 */
export function endOrphans(folder = recordsDir) {
  return recordFiles(folder).filter(endOrphan).length;
}

/**
 * @param {string} file of a record
 * @returns {boolean} true where there was one whose owner is gone
 */
function endOrphan(file) {
  const record = readRecord(file);
  if (record === undefined || isAlive(record.owner)) return false;
  // Process ids are used again: only what is recognisably ours is ended.
  for (const pid of record.groups) if (commandOf(pid).includes(root)) killGroup(pid);
  killMarked(record.marker);
  rmSync(file, { force: true });
  return true;
}

/**
 * @param {string} file
 * @returns {StackRecord | undefined}
 */
function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** @param {string} folder */
function recordFiles(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => /^stack-\d+\.json$/.test(name))
      .map((name) => join(folder, name));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * True where a process with this id runs, whoever owns it.
 * @param {number} pid
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}

/** @param {number} pid */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error; // ended meanwhile
  }
}
