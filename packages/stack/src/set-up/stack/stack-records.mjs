import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolsDir } from '../project.mjs';
import { systemErrorCode, UserError } from '../user-error.mjs';

const recordsDir = join(toolsDir, 'run');

/**
 * @typedef {object} StackRecord a stack's owner and processes
 * @property {number} owner process id
 * @property {string} [start] when the owner started
 * @property {string} marker
 * @property {readonly number[]} groups process groups
 */

/**
 * Claims a gateway port for a stack of this checkout and records its processes, so that a later
 * run can clean up if the owner is killed. Without a port, nginx gets a free one later.
 * @param {{ port?: number | undefined, marker: string }} stack
 * @throws {UserError} if another stack of this checkout uses the port
 */
export function claimStack({ port, marker }, folder = recordsDir) {
  mkdirSync(folder, { recursive: true });
  const name = port ?? marker;
  const file = join(folder, `stack-${name}.json`);
  const text = (/** @type {readonly number[]} */ groups) =>
    JSON.stringify({ owner: process.pid, start: startOf(process.pid), marker, groups });
  endOrphan(file);
  // Written whole and then put in place, because another command may read it at any time.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text([]));
  try {
    linkSync(draft, file);
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    throw new UserError(
      `A stack of this checkout is already on port ${port} (process ${readRecord(file)?.owner}). Stop it, or choose another port: PORT=8090 npm start`,
    );
  } finally {
    rmSync(draft);
  }
  return {
    /** Folder for the gateway's rendered configuration. */
    runDir: join(folder, `gateway-${name}`),
    /** @param {readonly number[]} groups */
    setGroups: (groups) => {
      writeFileSync(draft, text(groups));
      renameSync(draft, file);
    },
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * Stops the stacks of earlier runs of this checkout that were killed.
 * @returns {number} how many there were
 */
export function endOrphans(folder = recordsDir) {
  return recordFiles(folder).filter(endOrphan).length;
}

/**
 * @param {string} file of a record
 * @returns {boolean} whether its owner was gone
 */
function endOrphan(file) {
  const record = readRecord(file);
  if (record === undefined || isRunning(record.owner, record.start)) return false;
  // Process ids are reused, so we end only processes that are clearly ours.
  for (const pid of record.groups) if (commandOf(pid).includes(root)) killGroup(pid);
  killMarked(record.marker);
  rmSync(file.replace(/stack-([\w-]+)\.json$/, 'gateway-$1'), { recursive: true, force: true });
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
    // The machine lost its power, and with it the stack.
    if (error instanceof SyntaxError) rmSync(file, { force: true });
    else if (systemErrorCode(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

/** @param {string} folder */
function recordFiles(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => /^stack-[\w-]+\.json$/.test(name))
      .map((name) => join(folder, name));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Whether a process with this id is running, even as another user.
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

/**
 * When a process started, in ticks since the machine's start (Linux only).
 * @param {number} pid
 */
export function startOf(pid) {
  // The name, in parentheses, may contain spaces.
  return entriesOf(pid, 'stat')[0]?.split(') ').at(-1)?.split(' ')[19];
}

/**
 * Whether this very process is running, and not a later one with the same id.
 * @param {number} pid
 * @param {string | undefined} start as `startOf` returned it
 */
export function isRunning(pid, start) {
  return isAlive(pid) && (start === undefined || startOf(pid) === start);
}

/** @param {number} pid */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error; // ended in the meantime
  }
}

/** Environment variable that marks every process of one stack, in any process group. */
export const markerName = 'MEDIA_SERVICES_STACK';

/**
 * Finds processes with the marker (Linux only; empty elsewhere).
 * @returns {{ pid: number, command: string }[]}
 * @param {string} marker
 */
export function markedProcesses(marker, name = markerName) {
  if (process.platform !== 'linux') return [];
  const entry = `${name}=${marker}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => entriesOf(pid, 'environ').includes(entry))
    .map((pid) => ({ pid, command: commandOf(pid) }));
}

/**
 * Kills the remaining processes of a stopped stack. Returns their number.
 * @param {string} marker
 */
export function killMarked(marker, name = markerName) {
  const processes = markedProcesses(marker, name);
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (systemErrorCode(error) !== 'ESRCH') throw error; // ended in the meantime
    }
  }
  return processes.length;
}

/**
 * A process's command line; empty if the process is gone (Linux only).
 * @param {number} pid
 */
function commandOf(pid) {
  return entriesOf(pid, 'cmdline').join(' ').trim();
}

/**
 * @param {number} pid
 * @param {string} file
 */
function entriesOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0');
  } catch {
    // Gone, or owned by another user.
    return [];
  }
}
