import { findExecutable } from '../executables.mjs';
import { runCommand, tailOf } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';

/**
 * Installs packages without starting their system services: nginx and redis-server would occupy
 * ports 80 and 6379 now and after every boot. `$1` lists the systemd units of the new packages,
 * `$2` is `update` to update apt's lists first; the other arguments are packages.
 */
const aptScript = `
set -e
export DEBIAN_FRONTEND=noninteractive
units=$1; lists=$2; shift 2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 143' INT TERM HUP
  printf '#!/bin/sh\\nexit 101\\n' >"$policy"; chmod 755 "$policy"
fi
[ "$lists" != update ] || apt-get -o DPkg::Lock::Timeout=300 update || echo 'apt-get update failed; trying with the existing lists'
apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
if [ -d /run/systemd/system ]; then
  for unit in $units; do systemctl disable --quiet "$unit" || echo "could not disable $unit"; done
fi
`;

/** @type {Readonly<Record<string, string>>} */
const units = { nginx: 'nginx', 'redis-server': 'redis-server', prometheus: 'prometheus' };

/** @typedef {import('./system-tools.mjs').SystemTool} SystemTool */

/**
 * @typedef {object} Installer
 * @property {string} name
 * @property {string} notice a sentence describing what it will do
 * @property {boolean} asksForPassword
 * @property {(tools: readonly SystemTool[], log: (line: string) => void) => Promise<import('../run-command.mjs').CommandResult>} install
 */

/**
 * Installs the missing tools with apt or brew.
 * @param {{ tools: readonly SystemTool[], log: (line: string) => void, env?: NodeJS.ProcessEnv, optional?: readonly SystemTool[] }} options
 *   the caller can obtain the `optional` ones otherwise
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
async function install({ tools, log, env = process.env, optional = [] }) {
  const missing = tools.filter((tool) => !tool.isThere(env));
  if (missing.length === 0) return 'present';
  const installer = await findInstaller(env);
  if (installer === undefined) {
    const required = missing.filter((tool) => !optional.includes(tool));
    if (required.length === 0) return 'no package manager';
    throw new UserError(adviceFor(required, 'It could not be installed automatically.'));
  }
  const { code, output } = await installer.install(missing, log);
  const stillMissing = missing.filter((tool) => !tool.isThere(env) && !optional.includes(tool));
  if (stillMissing.length > 0) {
    const reason =
      code === 0
        ? `${installer.name} did not install all of it.`
        : `${installer.name} failed:\n${tailOf(output)}`;
    throw new UserError(adviceFor(stillMissing, reason));
  }
  return `installed ${missing
    .filter((tool) => tool.isThere(env))
    .map(({ name }) => name)
    .join(', ')}`;
}

/**
 * Announces what will be installed system-wide, and how.
 * @param {{ tools: readonly SystemTool[], say: (text: string) => void, env?: NodeJS.ProcessEnv, optional?: readonly SystemTool[] }} options
 *   set-up can do without the `optional` ones, or obtain them otherwise
 * @returns {Promise<boolean>} whether the installer may ask for a password
 * @throws {UserError} saying what to install if there is no installer
 */
export async function announceSystemTools({ tools, say, env = process.env, optional = [] }) {
  const missing = tools.filter((tool) => !tool.isThere(env));
  if (missing.length === 0) return false;
  const installer = await findInstaller(env);
  if (installer === undefined) {
    const required = missing.filter((tool) => !optional.includes(tool));
    if (required.length === 0) return false;
    throw new UserError(
      adviceFor(
        required,
        'Installing it needs root or brew; neither is available. Nothing has been changed.',
      ),
    );
  }
  const names = missing.map(({ name, purpose }) => `${name} (${purpose})`).join(', ');
  say(`Missing on this machine: ${names}. ${installer.notice}`);
  return installer.asksForPassword;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Installer | undefined>}
 */
async function findInstaller(env) {
  if (findExecutable('apt-get', [], env) !== undefined) {
    const sudo = await rootPrefix(env);
    if (sudo !== undefined) {
      const how = sudo.length === 0 ? 'apt' : 'apt through sudo, which may ask for your password';
      return {
        name: 'apt',
        notice: `It will be installed with ${how}.`,
        asksForPassword: sudo.length === 1,
        install: (tools, log) => installWithApt(sudo, tools, log),
      };
    }
  }
  const brew = findExecutable('brew', ['/opt/homebrew/bin', '/usr/local/bin'], env);
  if (brew !== undefined) {
    return {
      name: 'brew',
      notice: 'It will be installed with brew.',
      asksForPassword: false,
      install: (tools, log) => installWithBrew(brew, tools, log),
    };
  }
  return undefined;
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
 * @param {readonly string[]} prefix
 * @param {readonly SystemTool[]} tools
 * @param {(line: string) => void} log
 */
function installWithApt(prefix, tools, log) {
  const packages = tools.flatMap(({ apt }) => apt);
  const newUnits = packages
    .map((name) => units[name])
    .filter(Boolean)
    .join(' ');
  const lists = listsAreCurrent ? 'keep' : 'update';
  listsAreCurrent = true;
  const [file, ...args] = [...prefix, 'sh', '-c', aptScript, 'set-up', newUnits, lists, ...packages];
  return runCommand(file ?? 'sh', args, { onLine: log, stdin: prefix.length === 1 ? 'inherit' : 'ignore' });
}

/**
 * @param {string} brew
 * @param {readonly SystemTool[]} tools
 * @param {(line: string) => void} log
 */
async function installWithBrew(brew, tools, log) {
  let result = { code: 0, output: '' };
  for (const tool of tools) {
    result = await runCommand(brew, ['install', ...tool.brew], { onLine: log });
    if (result.code !== 0) return result;
  }
  return result;
}

/**
 * @param {readonly SystemTool[]} tools
 * @param {string} reason
 */
function adviceFor(tools, reason) {
  const names = tools.map(({ name, purpose }) => `${name} (${purpose})`).join(', ');
  const apt = tools.flatMap((tool) => tool.apt).join(' ');
  const brew = tools.map((tool) => `brew install ${tool.brew.join(' ')}`).join(' && ');
  const hints = tools.flatMap(({ hint }) => (hint === undefined ? [] : [hint]));
  return [
    `Missing: ${names}. ${reason}`,
    'Install it, then run the same command again:',
    `  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${apt}`,
    `  macOS:           ${brew}`,
    ...hints,
  ].join('\n');
}
