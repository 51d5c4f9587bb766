import { access, constants, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { MediaServicesError } from '../errors.js';
import { limitedName } from '../media.js';
import { wait } from '../retry.js';
import type { RateLimit } from '../media.js';
import { UsageError, type CutoutCommand } from './arguments.js';
import { optionOf } from './messages.js';
import {
  exists,
  FileExistsError,
  isFolder,
  namesIn,
  readStandardInput,
  requireFree,
  requireRedirect,
  saveMedia,
  writeToStandardOutput,
} from './output-file.js';
import { sayRetry, type Terminal } from './terminal.js';
import type { Work } from './video.js';

const imageExtensions = new Set(['.jpg', '.jpeg', '.png', '.webp']);
/** Clients that share our IP address may use up the limit of a minute. */
const retries = 10;
/** Statuses that concern one image; the next one may succeed. */
const imageStatuses = new Set([400, 413, 415, 422]);

interface ImageJob {
  /** Shown to the user. */
  readonly label: string;
  readonly read: (signal: AbortSignal) => Promise<Blob | URL>;
  readonly target: { readonly folder: string; readonly name: string } | 'standard output';
  /** What to do if the result exists: choose a numbered name, fail, or keep it. `--force` replaces it. */
  readonly ifExists: 'number' | 'fail' | 'skip';
}

/**
 * Processes all images one after the other, no faster than `RateLimit` allows. A rejected image
 * doesn't stop the others.
 * @throws UsageError, the file system's error, and MediaServicesError if the server rejects the client itself
 */
export async function cutOutImages({
  client,
  command,
  terminal,
  results,
  signal,
}: Work<CutoutCommand>): Promise<void> {
  const jobs = await findJobs(command, terminal);
  let limit: RateLimit | undefined;
  for (const [index, { label, read, target, ifExists }] of jobs.entries()) {
    if (limit?.remaining === 0) {
      terminal.say(`Rate limit reached. Waiting ${limit.resetSeconds} s.`);
      await wait(limit.resetSeconds, signal);
    }
    terminal.progress(`${index + 1}/${jobs.length} ${label}`);
    const { force } = command;
    const isExactName = ifExists !== 'number';
    try {
      if (target !== 'standard output' && isExactName && !force)
        await requireFree(join(target.folder, target.name));
      const media = await client.removeBackground(await read(signal), basename(label), {
        threshold: command.threshold,
        feather: command.feather,
        foregroundStrength: command.foregroundStrength,
        // Defaults aren't sent, so that older servers accept the request.
        format: command.format === 'png' ? undefined : command.format,
        channels: command.mask ? 'alpha' : undefined,
        backgroundColor: command.backgroundColor,
        crop: command.crop || undefined,
        cropMargin: command.cropMargin,
        maxWidth: command.maxWidth,
        maxHeight: command.maxHeight,
        retries,
        signal,
        onRetry: sayRetry(terminal),
      });
      limit = media.rateLimit;
      if (target === 'standard output') await writeToStandardOutput(media, signal);
      else results.saved(label, await saveMedia(media, { ...target, isExactName, force, signal }));
    } catch (error) {
      if (ifExists === 'skip' && error instanceof FileExistsError) {
        results.skipped(
          label,
          fileOf(target),
          `${label}: Skipped, because another command has made its cut-out.`,
        );
        continue;
      }
      const isRejected = error instanceof MediaServicesError && concernsImage(error);
      if (!isRejected && !(error instanceof UnreadableFileError)) throw error;
      // A rejected image doesn't say how many requests are left.
      limit = undefined;
      results.failed(label, error);
    }
  }
}

function fileOf(target: ImageJob['target']): string {
  return target === 'standard output' ? '-' : join(target.folder, target.name);
}

/** An option that the service rejects concerns all images. */
function concernsImage({ status, fields }: MediaServicesError): boolean {
  return imageStatuses.has(status) && !fields.some(({ field }) => field in optionOf);
}

async function findJobs(command: CutoutCommand, terminal: Terminal): Promise<ImageJob[]> {
  const { sources, output } = command;
  const jobs: ImageJob[] = [];
  const sourceOf = new Map<string, string>();
  if (command.url !== undefined) {
    const url = new URL(command.url);
    const name = basename(url.pathname) || url.hostname;
    jobs.push(singleJob(name, () => Promise.resolve(url), command));
  }
  for (const source of sources) {
    if (source !== '-' && (await isSourceFolder(source))) {
      if (output === '-') throw new UsageError('-o - takes one image, not a folder.');
      if (output?.name !== undefined)
        throw new UsageError(`-o must be a folder here. End its name with a slash: ${output.name}/`);
      const target = output?.folder ?? join(source, 'cutouts');
      for (const folder of command.isRecursive ? await foldersBelow(source, target) : [source]) {
        const results = join(target, relative(source, folder));
        jobs.push(...(await folderJobs(folder, results, command, terminal, sourceOf)));
      }
    } else {
      const read = source === '-' ? readInput : () => readImage(source);
      jobs.push(singleJob(source, read, command));
    }
  }
  return jobs;
}

/** The folder and all below it, without hidden ones, links and the results of an earlier run. */
async function foldersBelow(folder: string, results: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inner = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => join(folder, name))
    .filter((path) => resolve(path) !== resolve(results))
    .toSorted();
  const below = await Promise.all(inner.map((path) => foldersBelow(path, results)));
  return [folder, ...below.flat()];
}

/** @throws UsageError if there is no such file, or no such folder that we may read */
async function isSourceFolder(source: string): Promise<boolean> {
  if (!(await exists(source).catch(rejectSource))) throw new UsageError(`${source} does not exist.`);
  if (!(await isFolder(source))) return false;
  await access(source, constants.R_OK).catch(rejectSource);
  return true;
}

function rejectSource(error: Error): never {
  throw new UsageError(`${error.message}. Check the path of the image or folder.`);
}

function singleJob(source: string, read: ImageJob['read'], { output, format }: CutoutCommand): ImageJob {
  const isInput = source === '-';
  const label = isInput ? 'image' : source;
  if (output === '-' || (output === undefined && isInput)) {
    requireRedirect();
    return { label, read, target: 'standard output', ifExists: 'number' };
  }
  const name = limitedName(basename(label, extname(label)), `-cutout.${format}`);
  const { folder, name: chosenName } = output ?? { folder: dirname(source) };
  return {
    label,
    read,
    target: { folder, name: chosenName ?? name },
    ifExists: chosenName === undefined ? 'number' : 'fail',
  };
}

async function folderJobs(
  folder: string,
  output: string,
  { force, format }: CutoutCommand,
  terminal: Terminal,
  /** The image of each result so far. */
  sourceOf: Map<string, string>,
): Promise<ImageJob[]> {
  // Hidden files are not photos: macOS puts a `._photo.jpg` next to each photo on foreign disks.
  const names = (await namesIn(folder)).filter(
    (name) => imageExtensions.has(extname(name).toLowerCase()) && !name.startsWith('.'),
  );
  const jobs: ImageJob[] = [];
  let skipped = 0;
  for (const name of names) {
    const result = resultName(name, names, format);
    const source = join(folder, name);
    const target = { folder: output, name: result };
    const path = join(output, result);
    const other = sourceOf.get(path);
    if (other !== undefined)
      throw new UsageError(
        `${other} and ${source} would both become ${path}. Cut them out separately, with -o.`,
      );
    sourceOf.set(path, source);
    if (!force && (await exists(path))) {
      skipped += 1;
      continue;
    }
    jobs.push({ label: source, read: () => readImage(source), target, ifExists: 'skip' });
  }
  if (names.length === 0) terminal.say(`${folder} has no JPEG, PNG or WebP images.`);
  else terminal.say(`${folder}: ${jobs.length} of ${names.length} images to cut out.`);
  if (skipped > 0)
    terminal.say(
      `Skipped ${skipped} that exist in ${output}. Use --force to make them again, for example with other options.`,
    );
  return jobs;
}

/** The message says why. */
class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

/** @throws UnreadableFileError for an empty file, a folder, a broken link or a file of someone else */
async function readImage(file: string): Promise<Blob> {
  try {
    await access(file, constants.R_OK);
    const found = await stat(file);
    if (found.isDirectory()) throw new UnreadableFileError('This is a folder.');
    if (!found.isFile()) throw new UnreadableFileError('This is not a regular file. Use - to read a pipe.');
    if (found.size === 0) throw new UnreadableFileError('The file is empty.');
    // Read at once: a retry sends the same bytes, even if the file has changed.
    return new Blob([await readFile(file)]);
  } catch (error) {
    throw new UnreadableFileError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function readInput(signal: AbortSignal): Promise<Blob> {
  const image = await readStandardInput(signal);
  if (image.size === 0) throw new UnreadableFileError('Standard input is empty.');
  return image;
}

/** `photo.jpg` becomes `photo.png`, or `photo.jpg.png` if there is a `photo.webp` too. */
function resultName(name: string, names: readonly string[], format: string): string {
  const stem = (each: string): string => basename(each, extname(each));
  const isAlone = names.filter((each) => stem(each) === stem(name)).length === 1;
  return limitedName(isAlone ? stem(name) : name, `.${format}`);
}
