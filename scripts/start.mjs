// npm start: installs what is missing, builds, and runs both services behind the gateway.
//   PORT, HOST  where the gateway listens (8080 on 127.0.0.1)
//   LOG=show    the services' logs here instead of in .tools/logs
// Every other setting of the services is passed on; see docs/configuration.md.
import { Progress } from './lib/progress.mjs';
import { logsDir } from './lib/project.mjs';
import { setUp } from './lib/set-up/set-up.mjs';
import { endOrphans } from './lib/stack/orphans.mjs';
import { panel } from './lib/stack/panel.mjs';
import { checkGatewayPort, portFrom } from './lib/stack/ports.mjs';
import { deathNotice, startStack } from './lib/stack/stack.mjs';
import { toldToStop } from './lib/stack/stop-signals.mjs';
import { runCommandLine, UserError } from './lib/user-error.mjs';

await runCommandLine(async () => {
  const progress = new Progress();
  const host = process.env.HOST || '127.0.0.1';
  const port = portFrom(process.env, 'PORT', 8080);
  if (endOrphans() > 0) progress.say('Ended what an earlier run had left.');
  await checkGatewayPort(port, host);
  const env = await setUp({ progress });

  const showLogs = process.env.LOG === 'show';
  const onLine = showLogs ? (name, line) => progress.say(`${name.padEnd(10)} │ ${line}`) : undefined;
  const stack = await startStack({ port, host, env, logsDir, onLine });
  const stopping = new AbortController();
  const told = toldToStop(() => stack.kill()).then((reason) => {
    stopping.abort();
    return { reason };
  });
  process.once('exit', () => stack.kill());
  try {
    await progress.step('Services', (log) => stack.healthy({ log, signal: stopping.signal }));
    const { videoDlMetrics, bgRemovalMetrics } = stack.ports;
    const metricsUrls = [videoDlMetrics, bgRemovalMetrics].map((each) => `http://127.0.0.1:${each}/metrics`);
    const readyAfterSeconds = Math.round(performance.now() / 1000);
    progress.say(
      panel({ url: stack.url, logsDir: showLogs ? undefined : logsDir, metricsUrls, readyAfterSeconds }),
    );
    const end = await Promise.race([told, stack.died]);
    if (end.child !== undefined) throw new UserError(`${deathNotice(end)}\nThe rest is being stopped.`);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  } finally {
    if (stopping.signal.aborted) progress.say('\nStopping…');
    await stack.stop();
  }
  progress.say('Stopped.');
});
