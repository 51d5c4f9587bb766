import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaServicesClient } from '../client.js';
import type { Command } from './arguments.js';
import { saveWhole } from './save.js';
import { sizeText, type Terminal } from './terminal.js';

type VideoCommand = Extract<Command, { name: 'video' }>;

/** Saves one video; prints the path of the file. */
export async function saveVideo(
  client: MediaServicesClient,
  { url, format, output = '.' }: VideoCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const options = {
    signal,
    onProgress: (received: number, expected: number | undefined) =>
      terminal.progress(
        expected === undefined ? sizeText(received) : `${sizeText(received)} of ≈ ${sizeText(expected)}`,
      ),
    onRetry: (error: Error, seconds: number) =>
      terminal.say(`${error.message} Trying again in ${seconds} s.`),
  };
  const media =
    format === 'mp3' ? await client.audio(url, options) : await client.video(url, format, options);
  await mkdir(output, { recursive: true });
  const file = join(output, media.fileName);
  await saveWhole(media, file, signal);
  terminal.result(file);
}
