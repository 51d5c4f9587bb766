import { basename, dirname } from 'node:path';
import type { MediaServicesClient } from '../client.js';
import { type InfoCommand, UsageError, type VideoCommand } from './arguments.js';
import { findPartialFile, isFolder, saveMedia, writeToStandardOutput } from './output-file.js';
import { printable, progressLine, sizeText, type Terminal, timeText } from './terminal.js';

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
  const { format, item, start, end, output, force, urls } = command;
  const line = progressLine();
  const options = {
    signal,
    item,
    start,
    end,
    onProgress: (received: number, expected: number | undefined) =>
      terminal.progress(line(received, expected)),
    onRetry: (error: Error, seconds: number) => terminal.say(`${error.message} Retrying in ${seconds} s.`),
  };
  const request = (resume?: { bytes: number; etag: string }) =>
    format === 'mp3' || format === 'original'
      ? client.audio(url, { ...options, original: format === 'original', resume })
      : client.video(url, format, { ...options, resume });
  if (output === '-') {
    if (urls.length > 1) throw new UsageError('Only one video can go to standard output.');
    await writeToStandardOutput(await request(), signal);
    return;
  }
  const isFile = output !== undefined && isFileName(output) && !(await isFolder(output));
  if (isFile && urls.length > 1) throw new UsageError('--output must be a folder for several videos.');
  const folder = isFile ? dirname(output) : (output ?? '.');
  const key = JSON.stringify({ url, format, item, start, end, name: isFile ? basename(output) : null });
  const partial = await findPartialFile(folder, key);
  if (partial !== undefined) terminal.say(`Resuming ${partial.file} after ${partial.bytes} bytes.`);
  const media = await request(partial);
  const name = isFile ? basename(output) : media.fileName;
  try {
    terminal.result(
      await saveMedia(media, { folder, name, isExactName: isFile, force, request: key, partial, signal }),
    );
  } catch (error) {
    const kept = signal.aborted ? await findPartialFile(folder, key) : undefined;
    if (kept !== undefined) terminal.say(`Kept ${kept.file}.part: the same command resumes it.`);
    throw error;
  }
}

/** `film.mp4` is a file; `films` and `films/` are folders. */
function isFileName(path: string): boolean {
  return /\.(?:mp3|mp4|m4a|ogg|opus|webm|flac|wav)$/i.test(path);
}

/** Prints what is on a page. */
export async function showInfo(
  client: MediaServicesClient,
  { url, item, start, end, json }: InfoCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const info = await client.info(url, { signal, item, start, end });
  if (json) {
    terminal.result(JSON.stringify(info, null, 2));
    return;
  }
  terminal.result(printable(info.title));
  const facts = [info.uploader, info.duration === null ? null : timeText(info.duration), info.uploadDate];
  const known = facts.filter((fact) => fact !== null);
  if (known.length > 0) terminal.result(printable(known.join(', ')));
  for (const { target, estimatedBytes } of info.downloads) {
    const size = estimatedBytes === null ? 'size unknown' : `about ${sizeText(estimatedBytes)}`;
    terminal.result(`  ${target.padEnd(9)} ${size}`);
  }
  for (const { index, title, duration } of info.items) {
    const length = duration === null ? '' : ` (${timeText(duration)})`;
    terminal.result(printable(`  --item ${index}  ${title ?? 'untitled'}${length}`));
  }
}
