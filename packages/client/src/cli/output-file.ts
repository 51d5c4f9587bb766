import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Media, ReceivedPart } from '../media.js';
import { UsageError } from './arguments.js';

const noteExtension = '.part.json';

/** The content of the note next to a `.part` file. */
const noteSchema = z.object({ request: z.string(), etag: z.string() });

/** The beginning of a file, left by an interrupted download. */
export interface PartialFile extends ReceivedPart {
  /** The path without `.part`. */
  readonly file: string;
}

/**
 * Finds the partial file of an interrupted download of the same request.
 * @param request identifies the download
 */
export async function findPartialFile(folder: string, request: string): Promise<PartialFile | undefined> {
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(noteExtension)) continue;
    const file = join(folder, name.slice(0, -noteExtension.length));
    const note = noteSchema.safeParse(await parsedFile(join(folder, name))).data;
    const bytes = note?.request === request ? await sizeOf(`${file}.part`) : 0;
    if (note !== undefined && bytes > 0) return { file, bytes, etag: note.etag };
  }
  return undefined;
}

export interface SaveOptions {
  readonly folder: string;
  /** The name to save under; an existing file of that name is never replaced unless `force` is set. */
  readonly name: string;
  /** Fail with a UsageError instead of choosing a numbered name such as `film (2).mp4`. */
  readonly isExactName: boolean;
  readonly force: boolean;
  /** Identifies the download; absent if it can't be resumed. */
  readonly request?: string | undefined;
  readonly partial?: PartialFile | undefined;
  readonly signal: AbortSignal;
}

/**
 * Saves a file that appears only once it is complete; until then its name ends in `.part`.
 * An interrupted download keeps its `.part` file if it can be resumed.
 * @returns the path of the file
 * @throws MediaServicesError `stream_broken`, UsageError, the file system's error, `signal.reason`
 */
export async function saveMedia(media: Media, options: SaveOptions): Promise<string> {
  const { folder, name, isExactName, force, request, partial, signal } = options;
  await createFolder(folder);
  const wanted = join(folder, name);
  if (isExactName && !force && (await exists(wanted))) {
    await media.body.cancel();
    throw alreadyExists(wanted);
  }
  const isResumed = partial !== undefined && media.startByte === partial.bytes;
  if (partial !== undefined && !isResumed) await removePartial(partial.file);
  const target = isResumed ? partial.file : await freePartialName(wanted);
  const canResume = request !== undefined && media.etag !== undefined;
  try {
    if (canResume) {
      await writeFile(`${target}${noteExtension}`, JSON.stringify({ request, etag: media.etag }));
    }
    await pipeline(
      asNodeStream(media.body),
      createWriteStream(`${target}.part`, { flags: isResumed ? 'a' : 'w' }),
      {
        signal,
      },
    );
  } catch (error) {
    if (!canResume || (await sizeOf(`${target}.part`)) === 0) await removePartial(target);
    throw error;
  }
  const file = force ? wanted : await reserveName(isResumed ? target : wanted, isExactName);
  await rename(`${target}.part`, file);
  await rm(`${target}${noteExtension}`, { force: true });
  return file;
}

/** Writes the whole file to standard output. */
export async function writeToStandardOutput(media: Media, signal: AbortSignal): Promise<void> {
  await pipeline(asNodeStream(media.body), process.stdout, { signal, end: false });
}

/** Reads all of standard input. */
export async function readStandardInput(signal: AbortSignal): Promise<Blob> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(chunk as Buffer);
  return new Blob(chunks);
}

export async function exists(file: string): Promise<boolean> {
  return (await statOf(file)) !== undefined;
}

export async function isFolder(path: string): Promise<boolean> {
  return (await statOf(path))?.isDirectory() ?? false;
}

export async function namesIn(folder: string): Promise<string[]> {
  return (await isFolder(folder)) ? (await readdir(folder)).sort() : [];
}

/** Creates a folder and its parents. Node's recursive `mkdir` never returns for a folder below /proc. */
async function createFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  if (dirname(folder) !== folder) await createFolder(dirname(folder));
  try {
    await mkdir(folder);
  } catch (error) {
    // Another command may have created it in the meantime.
    if (!(await isFolder(folder))) throw error;
  }
}

function asNodeStream(body: Media['body']): Readable {
  // The web's and Node's stream types differ only in their iterators.
  return Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
}

/** Finds a name that has no `.part` file of another download. */
async function freePartialName(wanted: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = numbered(wanted, number);
    if (await createNew(`${file}.part`)) return file;
  }
}

/** Creates an empty file, so that a second download can't take the same name. */
async function reserveName(wanted: string, isExactName: boolean): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = numbered(wanted, number);
    if (await createNew(file)) return file;
    if (isExactName) throw alreadyExists(file);
  }
}

async function createNew(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** `film.mp4`, then `film (2).mp4`. */
function numbered(file: string, number: number): string {
  if (number === 1) return file;
  const extension = extname(file);
  return join(dirname(file), `${basename(file, extension)} (${number})${extension}`);
}

function alreadyExists(file: string): UsageError {
  return new UsageError(`${file} already exists. Use --force to replace it.`);
}

async function removePartial(file: string): Promise<void> {
  await rm(`${file}.part`, { force: true });
  await rm(`${file}${noteExtension}`, { force: true });
}

async function parsedFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    // Another program's file, or an incomplete one.
    return undefined;
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await statOf(file))?.size ?? 0;
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
