import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MediaServicesClient } from '../client.js';
import { MediaServicesError } from '../errors.js';
import { type Command, parseCommand, UsageError } from './arguments.js';
import { completionScript } from './completion.js';
import { cutOutImages } from './cutout.js';
import { fileMessage, messageOf } from './messages.js';
import { Results } from './results.js';
import { createTerminal, type Terminal } from './terminal.js';
import { usage } from './usage.js';
import { saveVideos, showInfo, showSignedUrl } from './video.js';

const exitCodes = {
  done: 0,
  usage: 2,
  rejected: 3,
  unavailable: 4,
  file: 5,
  interrupted: 130,
} as const;

/** Ctrl-C, `kill`, and the end of the terminal. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs one command line; returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  for (const name of stopSignals) process.once(name, stop);
  let outputError: Error | undefined;
  const onOutputError = (error: Error): void => void (outputError ??= error);
  process.stdout.on('error', onOutputError);
  // Messages that nobody reads must not end the download.
  process.stderr.on('error', () => undefined);
  let terminal = createTerminal(true);
  try {
    const command = parseCommand(args, process.env);
    if ('quiet' in command) terminal = createTerminal(command.quiet);
    const code = await run(command, terminal, stopping.signal);
    await new Promise<void>((settle) => process.stdout.write('', () => settle()));
    return outputError === undefined ? code : report(outputError, terminal, stopping.signal);
  } catch (error) {
    return report(error, terminal, stopping.signal);
  } finally {
    for (const name of stopSignals) process.off(name, stop);
  }
}

async function run(command: Command, terminal: Terminal, signal: AbortSignal): Promise<number> {
  if (command.name === 'help') {
    process.stdout.write(usage);
    return command.isWanted ? exitCodes.done : exitCodes.usage;
  }
  if (command.name === 'version') {
    process.stdout.write(`${version()}\n`);
    return exitCodes.done;
  }
  if (command.name === 'completion') {
    process.stdout.write(completionScript(command.shell));
    return exitCodes.done;
  }
  const client = new MediaServicesClient({ baseUrl: command.server, key: command.key });
  const results = new Results(terminal, command.json);
  if (command.name === 'video') await saveVideos({ client, command, terminal, results, signal });
  else if (command.name === 'cutout') await cutOutImages({ client, command, terminal, results, signal });
  else if (command.name === 'info') await showInfo(client, command, terminal, signal);
  else await showSignedUrl(client, command, terminal);
  return exitCodes[results.worst];
}

function report(error: unknown, terminal: Terminal, signal: AbortSignal): number {
  if (signal.aborted) {
    terminal.error('Interrupted.');
    return exitCodes.interrupted;
  }
  if (error instanceof UsageError) {
    terminal.error(`${error.message}\nRun media-services --help for usage.`);
    return exitCodes.usage;
  }
  if (error instanceof MediaServicesError) {
    terminal.error(messageOf(error));
    return error.retryable ? exitCodes.unavailable : exitCodes.rejected;
  }
  if (error instanceof Error && 'code' in error && 'syscall' in error) {
    if (isClosedPipe(error)) return exitCodes.done;
    terminal.error(fileMessage(error));
    return exitCodes.file;
  }
  throw error;
}

/** The reader closed the pipe because it needs no more data. */
function isClosedPipe(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE';
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return z.object({ version: z.string() }).parse(manifest).version;
}
