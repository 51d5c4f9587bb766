import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { toolsDir } from './project.mjs';
import { sendSignal } from './run-command.mjs';
import { systemErrorCode } from './user-error.mjs';

/** Has a folder for each running stack, named after its marker. */
const stacksDir = join(toolsDir, 'run');

/** Environment variable that marks the processes of one stack. nginx removes it, but its command has the marker. */
export const markerName = 'MEDIA_SERVICES_STACK';

/** Names this process by its id and, because ids are reused, by when it started (Linux only). */
export const processName = () => `${process.pid}-${startOf(process.pid)}`;

/**
 * Whether the process with this name is running, even as another user.
 * @param {string} name begins as `processName` returns it
 */
export function isRunning(name) {
  const [pid, start] = name.split('-');
  return Number(pid) > 0 && isAlive(Number(pid)) && startOf(Number(pid)) === start;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}

/** Names a new stack of this process and creates the folder for the gateway's configuration. */
export function newStack(folder = stacksDir) {
  const marker = `${processName()}-${randomUUID().slice(0, 8)}`;
  const runDir = join(folder, marker);
  mkdirSync(runDir, { recursive: true });
  return { marker, runDir };
}

/**
 * Stops the stacks of earlier runs of this checkout that were killed.
 * @returns {number} how many there were
 */
export function endOrphans(folder = stacksDir) {
  mkdirSync(folder, { recursive: true });
  const orphans = readdirSync(folder).filter((marker) => !isRunning(marker));
  for (const marker of orphans) {
    killMarked(marker);
    rmSync(join(folder, marker), { recursive: true, force: true });
  }
  return orphans.length;
}

/**
 * Finds processes with the marker (Linux only; empty elsewhere).
 * @returns {{ pid: number, command: string }[]}
 * @param {string} marker
 */
export function markedProcesses(marker, name = markerName) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .map((pid) => ({ pid, command: entriesOf(pid, 'cmdline').join(' ').trim() }))
    .filter(
      ({ pid, command }) =>
        command.includes(marker) || entriesOf(pid, 'environ').includes(`${name}=${marker}`),
    );
}

/**
 * Kills the remaining processes of a stopped stack, and the groups that they lead: nginx's workers
 * have no marker. Returns the number of marked processes.
 * @param {string} marker
 */
export function killMarked(marker, name = markerName) {
  const processes = markedProcesses(marker, name);
  for (const { pid } of processes) {
    sendSignal(-pid, 'SIGKILL');
    sendSignal(pid, 'SIGKILL');
  }
  return processes.length;
}

/**
 * When a process started, in ticks since the machine's start; empty if unknown.
 * @param {number} pid
 */
function startOf(pid) {
  // The name, in parentheses, may contain spaces.
  return entriesOf(pid, 'stat')[0]?.split(') ').at(-1)?.split(' ')[19] ?? '';
}

/**
 * @param {number} pid
 * @param {string} file
 */
function entriesOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0');
  } catch {
    // Gone, owned by another user, or not Linux.
    return [];
  }
}
