import { join } from 'node:path';
import { gatewayDir, root } from '../set-up/project.mjs';
import { runCommand } from '../set-up/run-command.mjs';

/** `EX_CONFIG` of sysexits.h. */
const configurationExitCode = 78;
/** `npm start` sets these for the services. */
const given = ['PORT', 'HOST', 'METRICS_PORT', 'TRUST_PROXY_HOPS'];

/**
 * Checks the settings of the gateway and both services, which must be built. Reports each
 * variable once, even if several of them read it. `gatewayAddress` validates `PORT`.
 * @returns {Promise<{ problems: string[], notes: string[] }>} invalid settings; probably mistyped ones,
 *   which have no effect. Each line starts with the variable's name
 * @throws {Error} if a check itself fails
 */
export async function checkSettings(env = process.env) {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !given.includes(name)));
  const outputs = await Promise.all([
    outputOf([join(gatewayDir, 'settings.js')], own),
    ...['video-dl', 'bg-removal'].map((app) =>
      outputOf([join(root, 'apps', app, 'dist', 'main.js'), '--check-config'], own),
    ),
  ]);
  const lines = outputs.flatMap((output) => output.split('\n'));
  const problems = lines.filter((line) => line.startsWith('  - ')).map((line) => line.slice(4));
  const notes = lines.filter((line) => /^\w+ is not a setting\b/.test(line));
  return { problems: oncePerName(problems), notes: oncePerName(notes) };
}

/** @param {readonly string[]} lines */
function oncePerName(lines) {
  const byName = new Map([...lines].reverse().map((line) => [line.split(' ', 1)[0], line]));
  return [...byName.values()].reverse();
}

/**
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function outputOf(args, env) {
  const { code, output } = await runCommand(process.execPath, args, { env });
  if (code !== 0 && code !== configurationExitCode) throw new Error(`${args.join(' ')}: ${output}`);
  return output;
}
