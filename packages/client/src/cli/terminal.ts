const barWidth = 20;

/** Results go to standard output; messages and progress go to standard error. */
export interface Terminal {
  result(line: string): void;
  say(line: string): void;
  /** Shown even with `--quiet`. */
  error(line: string): void;
  /** Overwrites the previous progress line. Shown only on a terminal. */
  progress(line: string): void;
}

export function createTerminal(quiet: boolean): Terminal {
  const { stdout, stderr } = process;
  const showsProgress = stderr.isTTY && !quiet && process.env.TERM !== 'dumb';
  const clear = showsProgress ? '\r\u001b[K' : '';
  const error = (line: string): void => void stderr.write(`${clear}${printable(line)}\n`);
  const say = (line: string): void => {
    if (!quiet) error(line);
  };
  const progress = (line: string): void => {
    if (showsProgress)
      stderr.write(
        clear +
          printable(line)
            .replace(/\n/g, ' ')
            .slice(0, (stderr.columns || 80) - 1),
      );
  };
  const result = (line: string): void => {
    progress('');
    // A program that reads the path needs it unchanged.
    stdout.write(`${stdout.isTTY ? printable(line) : line}\n`);
  };
  return { result, say, error, progress };
}

export function sayRetry(terminal: Terminal) {
  return (error: Error, seconds: number): void => terminal.say(`${error.message} Retrying in ${seconds} s.`);
}

/** Without control characters: a title or the name of a file could contain commands for the terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is removed
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '');
}

/**
 * Formats one download's progress: `25 %  1.2 MB/s  12 s left  [#####     ]`.
 * The bar comes last, because a narrow terminal cuts the line off.
 * @param now milliseconds
 */
export function progressLine(now: () => number = () => performance.now()) {
  let start: { readonly ms: number; readonly bytes: number } | undefined;
  return (receivedBytes: number, expectedBytes: number | undefined): string => {
    start ??= { ms: now(), bytes: receivedBytes };
    const seconds = (now() - start.ms) / 1000;
    const bytesPerSecond = seconds > 0 ? (receivedBytes - start.bytes) / seconds : 0;
    const speed = bytesPerSecond > 0 ? `  ${sizeText(bytesPerSecond)}/s` : '';
    if (expectedBytes === undefined || expectedBytes === 0) return `${sizeText(receivedBytes)}${speed}`;
    const share = Math.min(1, receivedBytes / expectedBytes);
    const filled = Math.round(share * barWidth);
    const bar = `  [${'#'.repeat(filled)}${' '.repeat(barWidth - filled)}]`;
    const left = bytesPerSecond > 0 ? Math.max(0, expectedBytes - receivedBytes) / bytesPerSecond : undefined;
    const rest = left === undefined ? '' : `  ${timeText(left)} left`;
    return `${Math.floor(share * 100)} %${speed}${rest}${bar}`;
  };
}

export function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** `42 s`, `1:02:03`. */
export function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const padded = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(rest)}` : `${minutes}:${padded(rest)}`;
}
