import { MediaServicesClient } from '../client.js';
import { MediaServicesError } from '../errors.js';
import { parseCommand, usage, UsageError, type Command } from './arguments.js';
import { cutOutFolder } from './cutout.js';
import { createTerminal, type Terminal } from './terminal.js';
import { saveVideo } from './video.js';

/** What scripts can go by. */
export const exitCodes = {
  done: 0,
  someFailed: 1,
  usage: 2,
  refused: 3,
  notNow: 4,
  interrupted: 130,
} as const;

/** Runs one command line; returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const command = parseCommand(args, process.env);
    if (command.name === 'help') {
      process.stdout.write(usage);
      return args.length === 0 ? exitCodes.usage : exitCodes.done;
    }
    return await run(command, createTerminal(command.quiet), stopping.signal);
  } catch (error) {
    return failure(error, stopping.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function run(
  command: Exclude<Command, { name: 'help' }>,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const client = new MediaServicesClient({ baseUrl: command.server, key: command.key });
  if (command.name === 'video') {
    await saveVideo(client, command, terminal, signal);
    return exitCodes.done;
  }
  const refused = await cutOutFolder(client, command, terminal, signal);
  return refused === 0 ? exitCodes.done : exitCodes.someFailed;
}

/** Tells what went wrong. */
function failure(error: unknown, signal: AbortSignal): number {
  const tell = (message: string): void => void process.stderr.write(`${message}\n`);
  if (signal.aborted) return exitCodes.interrupted;
  if (error instanceof UsageError) {
    tell(`${error.message}\n\n${usage}`);
    return exitCodes.usage;
  }
  if (error instanceof MediaServicesError) {
    tell(
      `${error.message} (${error.code}${error.requestId === undefined ? '' : `, request ${error.requestId}`})`,
    );
    return error.retryable ? exitCodes.notNow : exitCodes.refused;
  }
  if (error instanceof Error && 'code' in error && 'syscall' in error) {
    // The file system: its messages name the file and the reason.
    tell(error.message);
    return exitCodes.usage;
  }
  throw error;
}
