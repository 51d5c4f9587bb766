import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The working directory. */
  readonly folder: string;
}

/** Starts a process that runs any number of command lines, one at a time. */
export function startCommandLines() {
  const script = fileURLToPath(new URL('../fixtures/command-lines.mjs', import.meta.url));
  const child = fork(script, { cwd: tmpdir(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  return {
    run: async (line: CommandLine): Promise<Outcome> => {
      const answered = once(child, 'message') as Promise<[Outcome]>;
      const ended = exited.then(() => Promise.reject(new Error('The process has ended.')));
      child.send(line);
      const [outcome] = await Promise.race([answered, ended]);
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
