import { errorCode } from '@media-services/http-common';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { childEnvironment } from '@media-services/processes';

/** The ffmpeg and ffprobe that this process uses, and what differs between their versions. */
export interface MediaTools {
  ffmpeg: string;
  ffprobe: string;
  /** As `ffmpeg -version` says it, for example `7.1.5`. */
  version: string;
  /** Threads of each decoder, filter graph and encoder; one per core unless given. */
  threads?: number | undefined;
}

/** No usable ffmpeg or ffprobe; the message names what was tried and the way out. */
export class MediaToolsMissingError extends Error {
  override name = 'MediaToolsMissingError';
}

export interface LocateOptions {
  /** `FFMPEG_PATH`: used as it is, and an error when it does not work. */
  ffmpegPath?: string | undefined;
  /** Folders to look in, `PATH` of this process unless given. */
  searchPath?: string;
  /** ffmpeg-static's binary, looked up unless given. */
  bundledFfmpeg?: string | null;
  threads?: number | undefined;
  signal?: AbortSignal;
}

/**
 * Finds ffmpeg (`ffmpegPath`, `PATH`, ffmpeg-static's binary where it is there)
 * and ffprobe (beside ffmpeg, `PATH`; ffmpeg-static has none) and
 * asks the version.
 *
 * @throws MediaToolsMissingError
 */
export async function locateMediaTools(options: LocateOptions = {}): Promise<MediaTools> {
  const searchPath = options.searchPath ?? process.env.PATH ?? '';
  const ffmpeg = await locateFfmpeg(options, searchPath);
  const ffprobe = await locateFfprobe(ffmpeg, searchPath);
  const signal = options.signal;
  const [version] = await Promise.all([readVersion(ffmpeg, signal), readVersion(ffprobe, signal)]);
  return { ffmpeg, ffprobe, version, ...(options.threads !== undefined && { threads: options.threads }) };
}

async function locateFfmpeg(options: LocateOptions, searchPath: string): Promise<string> {
  if (options.ffmpegPath !== undefined) return demand(options.ffmpegPath, 'FFMPEG_PATH');
  const found = await onPath('ffmpeg', searchPath);
  if (found !== undefined) return found;
  const bundled = options.bundledFfmpeg === undefined ? await bundledFfmpeg() : options.bundledFfmpeg;
  if (bundled !== null && (await isExecutable(bundled))) return bundled;
  throw new MediaToolsMissingError(
    'ffmpeg was not found on PATH, and ffmpeg-static has no binary here. Install ffmpeg (apt-get install ffmpeg, brew install ffmpeg) or set FFMPEG_PATH to its file.',
  );
}

async function locateFfprobe(ffmpeg: string, searchPath: string): Promise<string> {
  const beside = join(dirname(ffmpeg), 'ffprobe');
  if (await isExecutable(beside)) return beside;
  const found = await onPath('ffprobe', searchPath);
  if (found !== undefined) return found;
  throw new MediaToolsMissingError(
    'ffprobe was found neither beside ffmpeg nor on PATH. Install the complete ffmpeg package.',
  );
}

async function demand(file: string, setting: string): Promise<string> {
  if (await isExecutable(file)) return file;
  throw new MediaToolsMissingError(
    `${setting} names "${file}", which is not an executable file. Correct or unset it.`,
  );
}

const bundledModule = z.object({ default: z.string().nullable() });

async function bundledFfmpeg(): Promise<string | null> {
  try {
    return bundledModule.parse(await import('ffmpeg-static')).default;
  } catch (error) {
    // An optional dependency, the last place to look in.
    if (errorCode(error) === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

async function onPath(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter)) {
    if (folder !== '' && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function readVersion(file: string, signal: AbortSignal | undefined): Promise<string> {
  const text = await run(file, ['-version'], signal);
  const version = /^ff(?:mpeg|probe) version (\S+)/u.exec(text)?.[1];
  if (version === undefined)
    throw new MediaToolsMissingError(`"${file}" does not answer like ffmpeg to -version.`);
  return /^n?(\d+(?:\.\d+)+)/u.exec(version)?.[1] ?? version;
}

async function run(file: string, args: string[], signal: AbortSignal | undefined): Promise<string> {
  const result = await execa(file, args, {
    stdin: 'ignore',
    timeout: 10_000,
    reject: false,
    extendEnv: false,
    env: childEnvironment(),
    ...(signal && { cancelSignal: signal }),
  });
  signal?.throwIfAborted();
  if (result.exitCode !== 0) {
    throw new MediaToolsMissingError(
      `"${file}" does not run: ${result.shortMessage}. Install a working ffmpeg, or set FFMPEG_PATH.`,
    );
  }
  return result.stdout;
}
