import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolsDir } from '../project.mjs';
import { commandOf, killMarked } from './leftovers.mjs';

const recordsDir = join(toolsDir, 'run');

/**
 * Writes down who owns a stack and what it runs, for the case that the owner is killed
 * so hard that it cannot stop it.
 * @param {{ port: number, marker: string, groups: readonly number[] }} stack
 * @returns {() => void} removes the record
 */
export function recordStack({ port, marker, groups }) {
  mkdirSync(recordsDir, { recursive: true });
  const file = join(recordsDir, `stack-${port}.json`);
  writeFileSync(file, JSON.stringify({ owner: process.pid, marker, groups }));
  return () => rmSync(file, { force: true });
}

/**
 * Ends what earlier runs of this checkout have left because they were killed.
 * @returns {number} how many stacks that were
 */
export function endOrphans(folder = recordsDir) {
  let ended = 0;
  for (const name of recordNames(folder)) {
    const file = join(folder, name);
    const { owner, marker, groups } = JSON.parse(readFileSync(file, 'utf8'));
    if (isAlive(owner)) continue;
    // Process ids are used again: only what is recognisably ours is ended.
    for (const pid of groups) if (commandOf(pid).includes(root)) killGroup(pid);
    killMarked(marker);
    rmSync(file, { force: true });
    ended += 1;
  }
  return ended;
}

function recordNames(folder) {
  try {
    return readdirSync(folder).filter((name) => /^stack-\d+\.json$/.test(name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // ended meanwhile
  }
}
