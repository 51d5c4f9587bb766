import {
  checkGatewayPort,
  endOrphans,
  gatewayAddress,
  Progress,
  readSettings,
  runScript,
  setUp,
  UserError,
} from '../packages/stack/src/set-up/index.mjs';
import { checkSettings } from '../packages/stack/src/doctor/settings-problems.mjs';

const usage = `npm start
Installs what is missing, builds, and runs both services behind the gateway until Ctrl-C.

Settings come from the environment and from .env; docs/configuration.md lists them all:
  PORT      the gateway's port (8080)
  HOST      the address that the gateway listens on (127.0.0.1)
  LOG=show  print the services' logs here instead of writing them to .tools/logs`;

await runScript({ usage }, async () => {
  const progress = new Progress();
  readSettings();
  const { port, host } = gatewayAddress();
  if (endOrphans() > 0) progress.say('Stopped the leftovers of an earlier run.');
  await checkGatewayPort({ port, host });
  const env = await setUp({ progress, set: 'run' });

  // Built by set-up.
  const { deathMessage, panel, startStack, stopRequested } = await import('../packages/stack/dist/index.js');
  const showLogs = process.env.LOG === 'show';
  const onLine = showLogs
    ? (/** @type {string} */ name, /** @type {string} */ line) => progress.say(`${name.padEnd(10)} │ ${line}`)
    : undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = stopRequested(() => process.exit(1)).then(() => {
    progress.say('\nStopping…');
    stopping.abort();
    return undefined;
  });
  /** @type {import('../packages/stack/dist/index.js').Stack | undefined} */
  let started;
  try {
    const stack = await progress.step('Services', async (log) => {
      try {
        started = await startStack({ port, host, env, signal, onLine });
        await started.healthy({ log, signal });
        return started;
      } catch (error) {
        if (signal.aborted) throw error;
        return explain(error, env);
      }
    });
    progress.say(
      panel({
        url: stack.url,
        logsDir: showLogs ? undefined : stack.logsDir,
        metricsUrls: stack.metricsUrls,
        readyAfterSeconds: Math.round(performance.now() / 1000),
      }),
    );
    // Now, because it takes half a second. The services run, whether or not this works.
    void checkSettings(env).then(
      ({ notes }) => notes.forEach((note) => progress.say(`! ${note}`)),
      () => undefined,
    );
    const death = await Promise.race([stop, stack.died]);
    if (death !== undefined) throw new UserError(`${deathMessage(death)}\nStopping the others.`);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await started?.stop();
  }
  progress.say('Stopped.');
});

/**
 * Names every invalid setting if a start has failed: a service's own message lists only its own.
 * Checking before each start would take half a second.
 * @param {unknown} error
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<never>}
 */
async function explain(error, env) {
  const { problems } = await checkSettings(env);
  if (problems.length === 0) throw error;
  const lines = problems.map((problem) => `\n  - ${problem}`).join('');
  throw new UserError(
    `Correct these settings in .env or the environment:${lines}\nThey are described in docs/configuration.md.`,
  );
}
