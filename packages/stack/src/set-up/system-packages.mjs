import { findExecutable } from './executables.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { UserError } from './user-error.mjs';

/**
 * @typedef {object} SystemTool a program from the system's package manager
 * @property {string} name
 * @property {string} purpose
 * @property {(env?: NodeJS.ProcessEnv) => boolean} isThere
 * @property {Readonly<Record<string, string>>} packages by package manager; `any` is for all others
 * @property {boolean} [optional] set-up can do without it, or get it in another way
 * @property {string} [hint] advice if its packages cannot be installed
 */

/** How each package manager installs. Packages follow. */
const commands = {
  apt: 'apt-get install -y --no-install-recommends',
  dnf: 'dnf install -y',
  apk: 'apk add --no-cache',
  pacman: 'pacman -S --needed --noconfirm',
  brew: 'brew install',
};

/**
 * Installs packages with apt without starting their system services: nginx and redis-server would
 * occupy ports 80 and 6379 now and after every boot. `$1` is `update` to update apt's lists first;
 * the other arguments are packages.
 */
const aptScript = `
set -e
export DEBIAN_FRONTEND=noninteractive
lists=$1; shift
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 143' INT TERM HUP
  printf '#!/bin/sh\\nexit 101\\n' >"$policy"; chmod 755 "$policy"
fi
[ "$lists" != update ] || apt-get -o DPkg::Lock::Timeout=300 update || echo 'apt-get update failed; trying with the existing lists'
apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
if [ -d /run/systemd/system ]; then
  for unit in nginx redis-server prometheus; do
    case " $* " in *" $unit "*) systemctl disable --quiet "$unit" || echo "could not disable $unit" ;; esac
  done
fi
`;

/**
 * Installs the missing tools with the system's package manager, one after another.
 * @param {{ tools: readonly SystemTool[], log: (line: string) => void, env?: NodeJS.ProcessEnv }} options
 * @throws {UserError} saying what to install if that fails
 */
export function installSystemTools(options) {
  // Set-up steps run in parallel, but package managers one at a time.
  const result = lastInstall.then(() => install(options));
  lastInstall = result.catch(() => undefined);
  return result;
}

/** @type {Promise<unknown>} */
let lastInstall = Promise.resolve();
/** One set-up installs several times, but updates apt's lists once. */
let listsAreCurrent = false;

/** @param {Parameters<typeof installSystemTools>[0]} options */
async function install({ tools, log, env = process.env }) {
  const missing = tools.filter((tool) => !tool.isThere(env));
  if (missing.length === 0) return 'present';
  const manager = await findManager(env);
  for (const tool of missing) {
    const { code, output } = await run(manager, tool, log);
    if (tool.isThere(env) || tool.optional) continue;
    const reason =
      code === 0 ? `${manager.name} did not install all of it.` : `Installing it failed:\n${tailOf(output)}`;
    throw new UserError(adviceFor([tool], reason, manager));
  }
  const installed = missing.filter((tool) => tool.isThere(env)).map(({ name }) => name);
  return installed.length > 0 ? `installed ${installed.join(', ')}` : 'not installed';
}

/**
 * Announces what will be installed system-wide, and how.
 * @param {{ tools: readonly SystemTool[], say: (text: string) => void, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<boolean>} whether the installer may ask for a password
 * @throws {UserError} saying what to install if there is no installer
 */
export async function announceSystemTools({ tools, say, env = process.env }) {
  const missing = tools.filter((tool) => !tool.isThere(env));
  if (missing.length === 0) return false;
  const manager = await findManager(env);
  const { name, prefix } = manager;
  if (prefix === undefined) {
    const required = missing.filter((tool) => !tool.optional);
    if (required.length === 0) return false;
    const reason = 'Installing it needs root or sudo. Nothing has been changed.';
    throw new UserError(adviceFor(required, reason, manager));
  }
  const how = prefix.length === 0 ? name : `${name} through sudo, which may ask for your password`;
  say(`Missing on this machine: ${namesOf(missing)}. It will be installed with ${how}.`);
  return prefix.length === 1;
}

/**
 * @typedef {object} Manager a package manager
 * @property {string} name
 * @property {string} command its program and options
 * @property {readonly string[] | undefined} prefix what runs it as root; undefined if it can't be run
 * @property {boolean} [isGuess] the system has none that we know
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Manager>}
 */
async function findManager(env) {
  for (const [name, command] of Object.entries(commands)) {
    const [program = ''] = command.split(' ');
    if (findExecutable(program, [], env) === undefined) continue;
    return { name, command, prefix: name === 'brew' ? [] : await rootPrefix(env) };
  }
  return { name: 'apt', command: commands.apt, prefix: undefined, isGuess: true };
}

/**
 * The command prefix for running as root; undefined if that isn't possible.
 * @param {NodeJS.ProcessEnv} env
 */
async function rootPrefix(env) {
  if (process.getuid?.() === 0) return [];
  if (findExecutable('sudo', [], env) === undefined) return undefined;
  if ((await runCommand('sudo', ['-n', 'true'])).code === 0) return ['sudo', '-n'];
  return process.stdin.isTTY ? ['sudo'] : undefined;
}

/**
 * @param {Manager} manager
 * @param {SystemTool} tool
 * @param {(line: string) => void} log
 */
async function run({ name, command, prefix }, tool, log) {
  const packages = packagesOf(tool, name);
  if (packages === '') return { code: 1, output: `${name} has no package for it.` };
  if (prefix === undefined) return { code: 1, output: 'That needs root or sudo.' };
  const script = ['sh', '-c', aptScript, 'set-up', listsAreCurrent ? 'keep' : 'update'];
  listsAreCurrent = true;
  const start = name === 'apt' ? script : command.split(' ');
  const [file = '', ...args] = [...prefix, ...start, ...packages.split(' ')];
  return runCommand(file, args, { onLine: log, stdin: prefix.length === 1 ? 'inherit' : 'ignore' });
}

/** @type {(tool: SystemTool, manager: string) => string} */
const packagesOf = ({ packages }, manager) => packages[manager] ?? packages['any'] ?? '';

/** @param {readonly SystemTool[]} tools */
const namesOf = (tools) => tools.map(({ name, purpose }) => `${name} (${purpose})`).join(', ');

/**
 * @param {readonly SystemTool[]} tools
 * @param {Manager} manager
 */
function commandFor(tools, { name, command }) {
  const packages = tools.map((tool) => packagesOf(tool, name)).filter(Boolean);
  if (packages.length === 0) return [];
  const line = `${command} ${packages.join(' ')}`;
  if (name === 'apt') return [`  sudo apt-get update && sudo ${line}`];
  return [name === 'brew' ? `  ${line}` : `  sudo ${line}`];
}

/**
 * @param {readonly SystemTool[]} tools
 * @param {string} reason
 * @param {Manager} manager
 */
function adviceFor(tools, reason, manager) {
  return [
    `Missing: ${namesOf(tools)}. ${reason}`,
    `Install it, then run the same command again${manager.isGuess ? '. On Debian:' : ':'}`,
    ...commandFor(tools, manager),
    ...tools.flatMap(({ hint }) => hint ?? []),
  ].join('\n');
}
