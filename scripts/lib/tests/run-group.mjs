import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs a test program with its output shown, in a process group that is ended with
 * all it has left when it is over or takes too long.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, timeoutMs: number, onOutput?: (text: string) => void }} options
 * @returns {Promise<{ code: number | null, timedOut: boolean }>}
 */
export async function runGroup(file, args, { cwd, env, timeoutMs, onOutput }) {
  const stdio = onOutput === undefined ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'];
  const child = spawn(file, args, { cwd, env, stdio, detached: true });
  if (onOutput !== undefined) {
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput);
  }
  const stopOnSignal = () => killGroup(child.pid);
  process.once('exit', stopOnSignal);
  const timer = new AbortController();
  const exited = new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`${file}: ${error.message}\n`);
      resolve(127);
    });
    child.once('exit', resolve);
  });
  const outcome = await Promise.race([
    exited.then((code) => ({ code, timedOut: false })),
    delay(timeoutMs, { code: null, timedOut: true }, { signal: timer.signal }).catch(
      () => new Promise(() => {}),
    ), // over in time
  ]);
  timer.abort();
  killGroup(child.pid);
  process.off('exit', stopOnSignal);
  return outcome;
}

function killGroup(pid) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // nothing was left
  }
}
