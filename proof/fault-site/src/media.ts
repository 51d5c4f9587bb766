import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hlsKey, recipes, type Recipe } from './recipes.js';

// Outside of the sources: transport stream segments are called .ts as well.
const folder = fileURLToPath(new URL('../../.tools/test-media', import.meta.url));
const building = new Map<string, Promise<string>>();

/**
 * The path of a file that ffmpeg encodes once for all tests and runs. Its folder is named
 * by the recipe's hash, so a changed recipe never gets an old file.
 * @param name a key of `recipes`; for a recipe with several files, their folder
 */
export async function media(name: string): Promise<string> {
  const recipe = recipes[name];
  if (recipe === undefined) throw new Error(`there is no recipe for "${name}"`);
  return made(name, recipe);
}

/** Makes all files except the longest, which only nightly tests use, so that no request has to wait for one. */
export async function makeAllMedia(): Promise<void> {
  const names = Object.keys(recipes).filter((name) => !name.startsWith('two-minutes'));
  const makeNext = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await media(name);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, makeNext));
}

type Ingredients = Pick<Recipe, 'args' | 'source'>;

/** The path of another recipe's result. */
export async function made(name: string, recipe: Ingredients): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16);
  const target = join(folder, hash);
  const file = building.get(target) ?? make(target, name, recipe);
  building.set(target, file);
  return file;
}

async function make(target: string, name: string, recipe: Ingredients): Promise<string> {
  const path = /\.\w+$/.test(name) ? join(target, name) : target;
  if (await exists(path)) return path;
  const { source, args } = recipe;
  const input = source === undefined ? [] : ['-i', await made(source.name, source.recipe)];
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, 'new-'));
  await writeFile(join(work, 'enc.key'), Buffer.from(hlsKey, 'hex'));
  await writeFile(join(work, 'key.info'), `enc.key\n${join(work, 'enc.key')}\n`);
  await promisify(execFile)(
    process.env['FFMPEG_PATH'] ?? 'ffmpeg',
    ['-hide_banner', '-nostdin', '-y', '-loglevel', 'error', ...input, ...args],
    { cwd: work },
  );
  try {
    await rename(work, target);
  } catch (error) {
    // Another test process was faster; its files are the same.
    await rm(work, { recursive: true, force: true });
    if (!(await exists(path))) throw error;
  }
  return path;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
