import { spawn } from 'node:child_process';

const keptOutput = 8000;

/**
 * @typedef {object} CommandResult
 * @property {number} code 127 if the program is missing
 * @property {string} output the end of stdout and stderr combined
 */

/**
 * Runs a program to completion and passes its output lines to `onLine`.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void, stdin?: 'ignore' | 'inherit' }} [options]
 * @returns {Promise<CommandResult>}
 */
export function runCommand(file, args, options = {}) {
  const { cwd, env = process.env, onLine = () => {}, stdin = 'ignore' } = options;
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'] });
    let output = '';
    const take = (/** @type {string} */ chunk) => {
      output = (output + chunk).slice(-keptOutput);
      for (const line of chunk.split(/[\r\n]+/)) if (line.trim() !== '') onLine(line);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 1, output: signal ? `${output}\n${signal}` : output }),
    );
  });
}

/**
 * The last lines of a program's output, for messages.
 * @param {string} output
 */
export function tailOf(output, lines = 15) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}
