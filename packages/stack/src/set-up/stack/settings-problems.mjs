import { join } from 'node:path';
import { gatewayDir, root } from '../project.mjs';
import { runCommand } from '../run-command.mjs';

/** `EX_CONFIG` of sysexits.h. */
const configurationExitCode = 78;
/** `npm start` gives these to the services itself. */
const given = ['PORT', 'HOST', 'METRICS_PORT', 'TRUST_PROXY_HOPS'];

/**
 * What is wrong with the settings of the gateway and of both services, which have to be
 * built; a variable that several of them read is told once. `PORT` is `portFrom`'s matter.
 * @returns {Promise<string[]>} each begins with the variable's name
 * @throws {Error} where a check itself fails
 */
export async function settingsProblems(env = process.env) {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !given.includes(name)));
  const gateway = ['settings.awk', 'settings.tsv'].map((name) => join(gatewayDir, name));
  const told = await Promise.all([
    problemsOf('awk', ['-f', ...gateway], own),
    ...['video-dl', 'bg-removal'].map((app) =>
      problemsOf(process.execPath, [join(root, 'apps', app, 'dist', 'check-config.js')], own),
    ),
  ]);
  const known = new Set();
  return told.flatMap((problems) => {
    const fresh = problems.filter((problem) => !known.has(nameIn(problem)));
    for (const problem of fresh) known.add(nameIn(problem));
    return fresh;
  });
}

/** @param {string} problem */
const nameIn = (problem) => problem.split(' ', 1)[0];

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function problemsOf(file, args, env) {
  const { code, output } = await runCommand(file, args, { env });
  if (code !== 0 && code !== configurationExitCode) throw new Error(`${args.at(-1)}: ${output}`);
  return output
    .split('\n')
    .filter((line) => line.startsWith('  - '))
    .map((line) => line.slice(4));
}
