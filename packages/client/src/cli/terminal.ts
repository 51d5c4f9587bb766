/** Where a command tells what it does: results on standard output, the way there on standard error. */
export interface Terminal {
  result(line: string): void;
  say(line: string): void;
  /** Overwrites itself; nothing where nobody watches. */
  progress(line: string): void;
}

export function createTerminal(quiet: boolean): Terminal {
  const { stdout, stderr } = process;
  const watched = stderr.isTTY && !quiet;
  const clear = watched ? '\r\u001b[K' : '';
  const say = (line: string): void => {
    if (!quiet) stderr.write(`${clear}${line}\n`);
  };
  const progress = (line: string): void => {
    if (watched) stderr.write(clear + line);
  };
  const result = (line: string): void => {
    progress('');
    stdout.write(`${line}\n`);
  };
  return { result, say, progress };
}

export function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
