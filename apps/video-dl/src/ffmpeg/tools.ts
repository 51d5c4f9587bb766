import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { ConfigError } from '@media-services/http-common';
import { childEnvironment } from '@media-services/processes';

/** The ffmpeg and ffprobe that this process uses. */
export interface MediaTools {
  ffmpeg: string;
  ffprobe: string;
  /** From `ffmpeg -version`, for example `7.1.5`. */
  version: string;
  /** Whether it has zimg's filter for colours, which tone mapping needs. */
  hasZscale?: boolean;
  /** Threads of each decoder, filter graph and encoder; defaults to one per core. */
  threads?: number | undefined;
}

/** No usable ffmpeg or ffprobe. The message says what was tried and how to fix it. */
export class MediaToolsMissingError extends ConfigError {
  constructor(problem: string) {
    super([problem]);
  }
}

export interface LocateOptions {
  /** `FFMPEG_PATH`. If set, nothing else is tried. */
  ffmpegPath?: string | undefined;
  /** Folders to search; defaults to this process's `PATH`. */
  searchPath?: string;
  threads?: number | undefined;
}

/**
 * Finds ffmpeg (`ffmpegPath`, then `PATH`) and ffprobe (next to ffmpeg, then `PATH`), and reads the version.
 *
 * @throws MediaToolsMissingError
 */
export async function locateMediaTools(options: LocateOptions = {}): Promise<MediaTools> {
  const folders = (options.searchPath ?? process.env.PATH ?? '').split(delimiter);
  const ffmpeg = await locateFfmpeg(options.ffmpegPath, folders);
  const ffprobe = await locate(
    'ffprobe',
    [dirname(ffmpeg), ...folders],
    'ffprobe was found neither next to ffmpeg nor on PATH. Install the complete ffmpeg package.',
  );
  const [version, , hasZscale] = await Promise.all([
    readVersion(ffmpeg),
    readVersion(ffprobe),
    hasFilter(ffmpeg, 'zscale'),
  ]);
  if (isBefore51(version))
    throw new MediaToolsMissingError(
      `"${ffmpeg}" is ffmpeg ${version}, and at least 5.1 is needed. Install a newer one, or set FFMPEG_PATH.`,
    );
  return {
    ffmpeg,
    ffprobe,
    version,
    ...(hasZscale && { hasZscale }),
    ...(options.threads !== undefined && { threads: options.threads }),
  };
}

async function locateFfmpeg(file: string | undefined, folders: readonly string[]): Promise<string> {
  if (file === undefined) {
    const install = 'Install ffmpeg (apt-get install ffmpeg, brew install ffmpeg) or set FFMPEG_PATH.';
    return locate('ffmpeg', folders, `ffmpeg was not found on PATH. ${install}`);
  }
  if (await isExecutable(file)) return file;
  throw new MediaToolsMissingError(
    `FFMPEG_PATH is "${file}", which isn't an executable file. Correct or unset it.`,
  );
}

/** @throws MediaToolsMissingError with this message if no folder has the program */
async function locate(name: string, folders: readonly string[], missing: string): Promise<string> {
  for (const folder of folders) {
    if (folder !== '' && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  throw new MediaToolsMissingError(missing);
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function readVersion(file: string): Promise<string> {
  const text = await run(file, ['-version']);
  const version = /^ff(?:mpeg|probe) version (\S+)/u.exec(text)?.[1];
  if (version === undefined)
    throw new MediaToolsMissingError(
      `"${file}" doesn't print an ffmpeg version for -version. Install a working ffmpeg, or set FFMPEG_PATH.`,
    );
  return /^n?(\d+(?:\.\d+)+)/u.exec(version)?.[1] ?? version;
}

/** Builds without a version number are new. */
function isBefore51(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 5 || (major === 5 && minor < 1);
}

async function hasFilter(ffmpeg: string, name: string): Promise<boolean> {
  const listed = await run(ffmpeg, ['-hide_banner', '-filters']);
  return new RegExp(`^ \\S+ ${name} `, 'mu').test(listed);
}

async function run(file: string, args: string[]): Promise<string> {
  const result = await execa(file, args, {
    stdin: 'ignore',
    timeout: 10_000,
    reject: false,
    extendEnv: false,
    env: childEnvironment(),
  });
  if (result.exitCode !== 0) {
    throw new MediaToolsMissingError(
      `"${file}" doesn't run: ${result.shortMessage}. Install a working ffmpeg, or set FFMPEG_PATH.`,
    );
  }
  return result.stdout;
}
