/** What the check of settings needs from its runtime: Node under `npm start`, QuickJS in the container. */
interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file, or undefined if it can't be read. */
  readonly read: (file: string) => string | undefined;
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
  /** Ends the process after its output was written. */
  readonly exit: (code: number) => void;
}

declare global {
  /** QuickJS's standard library, with `qjs --std`. */
  var std:
    | {
        getenviron(): Record<string, string>;
        loadFile(path: string): string | null;
        readonly out: { puts(text: string): void };
        readonly err: { puts(text: string): void };
        exit(code: number): void;
      }
    | undefined;
}

export const host: Host = globalThis.std === undefined ? node() : quickJs(globalThis.std);

function node(): Host {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  return {
    env: process.env,
    read: (file) => {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return undefined;
      }
    },
    print: (line) => void process.stdout.write(`${line}\n`),
    warn: (line) => void process.stderr.write(`${line}\n`),
    exit: (code) => {
      process.exitCode = code;
    },
  };
}

function quickJs(std: NonNullable<typeof globalThis.std>): Host {
  return {
    env: std.getenviron(),
    read: (file) => std.loadFile(file) ?? undefined,
    print: (line) => std.out.puts(`${line}\n`),
    warn: (line) => std.err.puts(`${line}\n`),
    exit: (code) => std.exit(code),
  };
}
