import { openAsBlob } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { MediaServicesClient } from '../client.js';
import { MediaServicesError } from '../errors.js';
import type { RateLimit } from '../media.js';
import type { Command } from './arguments.js';
import { saveWhole } from './save.js';
import type { Terminal } from './terminal.js';

type CutoutCommand = Extract<Command, { name: 'cutout' }>;

const pictures = new Set(['.jpg', '.jpeg', '.png', '.webp']);
/** A limit of a minute may well be used up by others behind the same IP. */
const retries = 10;

/**
 * Cuts out every picture of a folder that has no result yet, one after the other
 * and no faster than `RateLimit` allows. An image that is refused does not end the rest.
 * @returns how many were refused
 * @throws MediaServicesError where the server itself does not take more
 */
export async function cutOutFolder(
  client: MediaServicesClient,
  command: CutoutCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const output = command.output ?? join(command.folder, 'cutouts');
  const names = (await readdir(command.folder))
    .filter((name) => pictures.has(extname(name).toLowerCase()))
    .sort();
  await mkdir(output, { recursive: true });
  const present = new Set(await readdir(output));
  const waiting = names.filter((name) => !present.has(resultName(name, names)));
  terminal.say(`${waiting.length} of ${names.length} images to cut out.`);
  let refused = 0;
  let limit: RateLimit | undefined;
  for (const [index, name] of waiting.entries()) {
    if (limit?.remaining === 0) {
      terminal.say(`The server allows no more for now: waiting ${limit.resetSeconds} s.`);
      await delay(limit.resetSeconds * 1000, undefined, { signal });
    }
    terminal.progress(`${index + 1}/${waiting.length} ${name}`);
    try {
      const image = await openAsBlob(join(command.folder, name));
      const media = await client.removeBackground(image, name, {
        ...command,
        retries,
        signal,
        onRetry: (error, seconds) => terminal.say(`${error.message} Trying again in ${seconds} s.`),
      });
      limit = media.rateLimit;
      const file = join(output, resultName(name, names));
      await saveWhole(media, file, signal);
      terminal.result(file);
    } catch (error) {
      if (!isAboutTheImage(error)) throw error;
      refused += 1;
      // A refusal says nothing about how many are left.
      limit = undefined;
      terminal.say(`${name}: ${error.message}`);
    }
  }
  return refused;
}

/** `photo.jpg` becomes `photo.png`, or `photo.jpg.png` where there is a `photo.webp` too. */
function resultName(name: string, names: readonly string[]): string {
  const stem = (each: string) => basename(each, extname(each));
  const alone = names.filter((each) => stem(each) === stem(name)).length === 1;
  return `${alone ? stem(name) : name}.png`;
}

const imageStatuses = new Set([400, 413, 415, 422]);

function isAboutTheImage(error: unknown): error is MediaServicesError {
  return error instanceof MediaServicesError && imageStatuses.has(error.status);
}
