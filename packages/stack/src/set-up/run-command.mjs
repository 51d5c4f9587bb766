import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
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
  if (cleanUps.size === 0) listen('on');
  cleanUps.add(cleanUp);
  return () => {
    if (cleanUps.delete(cleanUp) && cleanUps.size === 0) listen('off');
  };
}

/** @param {'on' | 'off'} change */
function listen(change) {
  process[change]('exit', runCleanUps);
  for (const signal of stopSignals) process[change](signal, stop);
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
 * Runs a program until it ends and passes each line of its output to `onLine`. A signal that stops
 * this command also ends the program and all that it has started.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void, stdin?: 'ignore' | 'inherit' }} [options]
 * @returns {Promise<{ code: number, output: string }>} 127 if the program is missing; the end of
 *   stdout and stderr combined
 */
export function runCommand(file, args, options = {}) {
  const { cwd, env = process.env, onLine = () => {}, stdin = 'ignore' } = options;
  return new Promise((resolve) => {
    // Only the terminal's own process group may read from it.
    const detached = stdin === 'ignore';
    const child = spawn(file, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'], detached });
    const done = onStop(() => {
      if (child.pid !== undefined) sendSignal(detached ? -child.pid : child.pid, 'SIGTERM');
    });
    const end = (/** @type {number} */ code, /** @type {string} */ text) => {
      done();
      resolve({ code, output: text });
    };
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => (output = (output + chunk).slice(-keptOutput)));
      createInterface({ input: stream }).on('line', (line) => line.trim() !== '' && onLine(line));
    }
    child.once('error', (error) => end(127, error.message));
    child.once('close', (code, signal) => end(code ?? 1, signal ? `${output}\n${signal}` : output));
  });
}

/**
 * Sends a signal, unless the process has ended or runs as another user (sudo passes signals on).
 * @param {number} pid negative for a process group
 * @param {NodeJS.Signals} signal
 */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(systemErrorCode(error) ?? '')) throw error;
  }
}

/**
 * The last lines of a program's output, for messages.
 * @param {string} output
 */
export function tailOf(output, lines = 15) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}
