import { join } from 'node:path';
import { gatewayDir, root } from '../project.mjs';
import { runCommand } from '../run-command.mjs';

/** `EX_CONFIG` of sysexits.h. */
const configurationExitCode = 78;
/** `npm start` sets these for the services. */
const given = ['PORT', 'HOST', 'METRICS_PORT', 'TRUST_PROXY_HOPS'];

/**
 * Finds invalid settings of the gateway and both services, which must be built. Reports each
 * variable once, even if several of them read it. `portFrom` validates `PORT`.
 * @returns {Promise<string[]>} each starts with the variable's name
 * @throws {Error} if a check itself fails
 */
export async function settingsProblems(env = process.env) {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !given.includes(name)));
  const gateway = ['settings.awk', 'settings.tsv'].map((name) => join(gatewayDir, name));
  const reports = await Promise.all([
    problemsOf('awk', ['-f', ...gateway], own),
    ...['video-dl', 'bg-removal'].map((app) =>
      problemsOf(process.execPath, [join(root, 'apps', app, 'dist', 'main.js'), '--check-config'], own),
    ),
  ]);
  const known = new Set();
  return reports.flatMap((problems) => {
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
  if (code !== 0 && code !== configurationExitCode) throw new Error(`${args.join(' ')}: ${output}`);
  return output
    .split('\n')
    .filter((line) => line.startsWith('  - '))
    .map((line) => line.slice(4));
}
