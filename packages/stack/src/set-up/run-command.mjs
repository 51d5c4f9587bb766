import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { systemErrorCode } from './user-error.mjs';

const keptOutput = 8000;
const stopSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
/** @type {Set<() => void>} */
const cleanUps = new Set();

/**
 * Calls `cleanUp` if this command exits or a signal stops it. Then ends it, unless something else
 * handles the signal.
 * @param {() => void} cleanUp
 * @returns {() => void} call this when nothing needs to be cleaned up any more
 */
export function onStop(cleanUp) {
  if (cleanUps.size === 0) {
    process.on('exit', runCleanUps);
    for (const signal of stopSignals) process.on(signal, stop);
  }
  cleanUps.add(cleanUp);
  return () => {
    cleanUps.delete(cleanUp);
    if (cleanUps.size > 0) return;
    process.off('exit', runCleanUps);
    for (const signal of stopSignals) process.off(signal, stop);
  };
}

function runCleanUps() {
  for (const cleanUp of cleanUps) cleanUp();
}

/** @param {NodeJS.Signals} signal */
function stop(signal) {
  runCleanUps();
  if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
}

/**
 * @typedef {object} CommandResult
 * @property {number} code 127 if the program is missing
 * @property {string} output the end of stdout and stderr combined
 */

/**
 * Runs a program to completion and passes its output lines to `onLine`. A signal that stops this
 * command also ends the program with everything that it has started.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void, stdin?: 'ignore' | 'inherit' }} [options]
 * @returns {Promise<CommandResult>}
 */
export function runCommand(file, args, options = {}) {
  const { cwd, env = process.env, onLine = () => {}, stdin = 'ignore' } = options;
  return new Promise((resolve) => {
    // Only the terminal's own process group may read from it.
    const detached = stdin === 'ignore';
    const child = spawn(file, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'], detached });
    const done = onStop(() => {
      if (child.pid !== undefined) terminate(detached ? -child.pid : child.pid);
    });
    let output = '';
    const take = (/** @type {string} */ chunk) => {
      output = (output + chunk).slice(-keptOutput);
      for (const line of chunk.split(/[\r\n]+/)) if (line.trim() !== '') onLine(line);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
    child.once('error', (error) => {
      done();
      resolve({ code: 127, output: error.message });
    });
    child.once('close', (code, signal) => {
      done();
      resolve({ code: code ?? 1, output: signal ? `${output}\n${signal}` : output });
    });
  });
}

/** @param {number} pid */
function terminate(pid) {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error; // ended in the meantime
  }
}

/**
 * The last lines of a program's output, for messages.
 * @param {string} output
 */
export function tailOf(output, lines = 15) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}
