import { extname, join } from 'node:path';
import type { MediaServicesClient } from '../client.js';
import { type InfoCommand, UsageError, type VideoCommand } from './arguments.js';
import {
  claimPartialFile,
  findPartialFile,
  requireFree,
  requireRedirect,
  saveMedia,
  writeToStandardOutput,
} from './output-file.js';
import { printable, progressLine, sayRetry, sizeText, type Terminal, timeText } from './terminal.js';

/**
 * Saves the video or audio of one page; prints the path of the file.
 * @throws MediaServicesError, UsageError, the file system's error
 */
export async function saveVideo(
  client: MediaServicesClient,
  url: string,
  command: VideoCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { format, item, start, end, output, force } = command;
  const line = progressLine();
  const options = {
    signal,
    item,
    start,
    end,
    onProgress: (received: number, expected: number | undefined) =>
      terminal.progress(line(received, expected)),
    onRetry: sayRetry(terminal),
  };
  const request = (resume?: { bytes: number; etag: string }) =>
    format === 'mp3' || format === 'original'
      ? client.audio(url, { ...options, original: format === 'original', resume })
      : client.video(url, format, { ...options, resume });
  if (output === '-') {
    requireRedirect();
    await writeToStandardOutput(await request(), signal);
    return;
  }
  const { folder = '.', name: chosenName } = output ?? {};
  if (chosenName !== undefined && !force) await requireFree(join(folder, chosenName));
  const key = JSON.stringify({ url, format, item, start, end, name: chosenName ?? null });
  const partial = await claimPartialFile(folder, key);
  if (partial !== undefined) terminal.say(`Resuming ${partial.file} after ${sizeText(partial.bytes)}.`);
  const media = await request(partial);
  const extension = extname(media.fileName);
  const isOtherType = chosenName !== undefined && extname(chosenName).toLowerCase() !== extension;
  if (format === 'original' && isOtherType) {
    await media.body.cancel();
    throw new UsageError(`The site's audio is a ${extension} file. Choose a name that ends in ${extension}.`);
  }
  const name = chosenName ?? media.fileName;
  const isExactName = chosenName !== undefined;
  try {
    terminal.result(
      await saveMedia(media, { folder, name, isExactName, force, request: key, partial, signal }),
    );
  } catch (error) {
    const kept = await findPartialFile(folder, key);
    if (kept !== undefined) terminal.say(`Kept ${kept.file}.part: the same command resumes it.`);
    throw error;
  }
}

/** Prints what is on a page. */
export async function showInfo(
  client: MediaServicesClient,
  { url, item, start, end, json }: InfoCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const info = await client.info(url, { signal, item, start, end, onRetry: sayRetry(terminal) });
  if (json) {
    terminal.result(JSON.stringify(info, null, 2));
    return;
  }
  terminal.result(printable(info.title));
  const facts = [info.uploader, info.duration === null ? null : timeText(info.duration), info.uploadDate];
  const known = facts.filter((fact) => fact !== null);
  if (known.length > 0) terminal.result(printable(known.join(', ')));
  for (const { target, estimatedBytes } of info.downloads) {
    terminal.result(`  ${target.padEnd(9)} ${sizeOf(estimatedBytes)}`);
  }
  if (info.originalAudio !== null) {
    const { container, estimatedBytes } = info.originalAudio;
    terminal.result(`  original  ${sizeOf(estimatedBytes)} (${container})`);
  }
  for (const { index, title, duration } of info.items) {
    const length = duration === null ? '' : ` (${timeText(duration)})`;
    terminal.result(printable(`  --item ${index}  ${title ?? 'untitled'}${length}`));
  }
}

function sizeOf(estimatedBytes: number | null): string {
  return estimatedBytes === null ? 'size unknown' : `about ${sizeText(estimatedBytes)}`;
}
