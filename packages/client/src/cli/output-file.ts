import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { MediaServicesError } from '../errors.js';
import type { Media, ReceivedPart } from '../media.js';
import { UsageError } from './arguments.js';

const noteExtension = '.part.json';

/** The content of the note next to a `.part` file. `pid` is the process that downloads it. */
const noteSchema = z.object({ request: z.string(), etag: z.string(), pid: z.int().optional() });

/** The beginning of a file, left by an interrupted download. */
export interface PartialFile extends ReceivedPart {
  /** The path without `.part`. */
  readonly file: string;
}

/**
 * Finds the partial file of an interrupted download of the same request, and marks it as this
 * process's: another one that downloads the same now starts its own file.
 * @param request identifies the download
 */
export async function claimPartialFile(folder: string, request: string): Promise<PartialFile | undefined> {
  const partial = await findPartialFile(folder, request);
  if (partial !== undefined) await writeNote(partial.file, request, partial.etag);
  return partial;
}

/** Finds a partial file of the same request that no other process writes. */
export async function findPartialFile(folder: string, request: string): Promise<PartialFile | undefined> {
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(noteExtension)) continue;
    const file = join(folder, name.slice(0, -noteExtension.length));
    const note = noteSchema.safeParse(await parsedFile(join(folder, name))).data;
    if (note?.request !== request || isOtherProcess(note.pid)) continue;
    const bytes = await sizeOf(`${file}.part`);
    if (bytes > 0) return { file, bytes, etag: note.etag };
  }
  return undefined;
}

async function writeNote(file: string, request: string, etag: string): Promise<void> {
  const note: z.input<typeof noteSchema> = { request, etag, pid: process.pid };
  const draft = `${file}${noteExtension}.new`;
  try {
    await writeFile(draft, JSON.stringify(note));
    await rename(draft, `${file}${noteExtension}`);
  } catch (error) {
    // The earlier note stays, for example if the disk is full.
    await rm(draft, { force: true });
    throw error;
  }
}

/** Whether another process of this machine has the number. */
function isOtherProcess(pid: number | undefined): boolean {
  if (pid === undefined || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything else, such as EPERM, means that it runs.
    return !hasCode(error, 'ESRCH');
  }
}

export class FileExistsError extends UsageError {
  constructor(file: string) {
    super(`${file} already exists. Use --force to replace it.`);
  }
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
  try {
    const { folder, name, isExactName, force, request, partial, signal } = options;
    await createFolder(folder);
    const wanted = join(folder, name);
    if (isExactName && !force) await requireFree(wanted);
    const isResumed = partial !== undefined && media.startByte === partial.bytes;
    if (partial !== undefined && !isResumed) await removePartial(partial.file);
    const target = isResumed ? partial.file : await freePartialName(wanted);
    const canResume = request !== undefined && media.etag !== undefined;
    try {
      if (canResume) await writeNote(target, request, media.etag);
      await receive(media, `${target}.part`, signal);
      const file = force ? wanted : await reserveName(isResumed ? target : wanted, isExactName);
      await moveTo(file, target, force);
      return file;
    } catch (error) {
      if (!canResume || (await sizeOf(`${target}.part`)) === 0) await removePartial(target);
      throw error;
    }
  } catch (error) {
    // Otherwise the server would go on sending.
    if (!media.body.locked) await media.body.cancel();
    throw error;
  }
}

/** @throws also if another program changed the file, which is removed then */
async function receive({ body, startByte }: Media, part: string, signal: AbortSignal): Promise<void> {
  const output = createWriteStream(part, { flags: startByte > 0 ? 'r+' : 'w', start: startByte });
  await pipeline(asNodeStream(body), output, { signal });
  if ((await sizeOf(part)) === startByte + output.bytesWritten) return;
  await rm(part, { force: true });
  throw changedByOthers(part);
}

function changedByOthers(file: string): MediaServicesError {
  const message = `Another program changed ${file}. Run the same command again.`;
  return new MediaServicesError('stream_broken', message, { status: 0, retryable: true });
}

/** Gives the `.part` file of `target` its final name, which is reserved unless `force` is set. */
async function moveTo(file: string, target: string, force: boolean): Promise<void> {
  try {
    await rename(`${target}.part`, file);
  } catch (error) {
    if (!force) await rm(file, { force: true });
    throw error;
  }
  await rm(`${target}${noteExtension}`, { force: true });
}

/** @throws UsageError if standard output is a terminal */
export function requireRedirect(): void {
  if (process.stdout.isTTY) throw new UsageError('Use -o FILE, or redirect the output: the file is binary.');
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
    if (isExactName) throw new FileExistsError(file);
  }
}

async function createNew(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** `film.mp4`, then `film (2).mp4`. */
function numbered(file: string, number: number): string {
  if (number === 1) return file;
  const extension = extname(file);
  return join(dirname(file), `${basename(file, extension)} (${number})${extension}`);
}

/** @throws FileExistsError */
export async function requireFree(file: string): Promise<void> {
  if (await exists(file)) throw new FileExistsError(file);
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
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
