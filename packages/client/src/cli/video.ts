import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { MediaServicesClient } from '../client.js';
import { MediaServicesError } from '../errors.js';
import { type InfoCommand, type SignCommand, UsageError, type VideoCommand } from './arguments.js';
import {
  claimPartialFile,
  exists,
  findPartialFile,
  readStandardInput,
  requireFree,
  requireRedirect,
  saveMedia,
  writeToStandardOutput,
} from './output-file.js';
import type { Results } from './results.js';
import { printable, progressLine, sayRetry, sizeText, type Terminal, timeText } from './terminal.js';

/** What a command works with. */
export interface Work<Command> {
  readonly client: MediaServicesClient;
  readonly command: Command;
  readonly terminal: Terminal;
  readonly results: Results;
  readonly signal: AbortSignal;
}

type VideoWork = Work<VideoCommand>;

interface Video {
  readonly url: string;
  readonly item: number | undefined;
}

/**
 * Saves every video, several at once if the server allows it. A failed video doesn't stop the others.
 * @throws UsageError, the file system's error
 */
export async function saveVideos(work: VideoWork): Promise<void> {
  const { command, results, signal } = work;
  const urls = [...new Set([...command.urls, ...(await linksOf(command, signal))])];
  const videos = await itemsOf(urls, work);
  const isAlone = videos.length === 1;
  const jobs = isAlone ? 1 : (command.jobs ?? (await allowedJobs(work)));
  /** Files of this run: another video of the same name gets a number. */
  const written = new Set<string>();
  const waiting = videos.values();
  const stopping = new AbortController();
  const each = { ...work, signal: AbortSignal.any([signal, stopping.signal]) };
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (const video of waiting) {
        try {
          await saveVideo(video, each, written);
        } catch (error) {
          if (error instanceof MediaServicesError) results.failed(video.url, error);
          else {
            // The disk is full, or the user has interrupted.
            stopping.abort(error);
            throw error;
          }
        }
      }
    }),
  );
}

/** The links of `--batch-file`, without empty lines and comments. */
async function linksOf({ batchFile }: VideoCommand, signal: AbortSignal): Promise<string[]> {
  if (batchFile === undefined) return [];
  const text =
    batchFile === '-' ? await (await readStandardInput(signal)).text() : await readFile(batchFile, 'utf8');
  const links = text.split(/\r?\n/).map((line) => line.replace(/^\ufeff/, '').trim());
  return links.filter((link) => link !== '' && !link.startsWith('#'));
}

/** The wanted videos of each page. */
async function itemsOf(
  urls: readonly string[],
  { client, command, terminal, results, signal }: VideoWork,
): Promise<Video[]> {
  const { item, items } = command;
  if (items === undefined) return urls.map((url) => ({ url, item }));
  if (items !== 'all') return urls.flatMap((url) => items.map((each) => ({ url, item: each })));
  const videos: Video[] = [];
  for (const url of urls) {
    try {
      const info = await client.info(url, { signal, onRetry: sayRetry(terminal) });
      const numbers = info.items.map(({ index }) => index);
      videos.push(...(numbers.length === 0 ? [undefined] : numbers).map((each) => ({ url, item: each })));
    } catch (error) {
      if (!(error instanceof MediaServicesError)) throw error;
      results.failed(url, error);
    }
  }
  return videos;
}

const maxJobs = 4;

/** As many streams as the server allows one client; one if it doesn't say. */
async function allowedJobs({ client, signal }: VideoWork): Promise<number> {
  try {
    const { limits } = await client.health({ signal, retries: 0 });
    return Math.max(1, Math.min(maxJobs, limits.streamsPerClient ?? 1));
  } catch (error) {
    if (error instanceof MediaServicesError) return 1;
    throw error;
  }
}

/** @throws MediaServicesError, UsageError, the file system's error */
async function saveVideo({ url, item }: Video, work: VideoWork, written: Set<string>): Promise<void> {
  const { client, command, terminal, results, signal } = work;
  const { format, start, end, chapter, lang, subtitles, output, force } = command;
  const line = progressLine();
  const options = {
    signal,
    item,
    start,
    end,
    chapter,
    lang,
    subtitles,
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
  const key = JSON.stringify({
    url,
    format,
    item,
    start,
    end,
    chapter,
    lang,
    subtitles,
    name: chosenName ?? null,
  });
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
  const wanted = join(folder, name);
  const mayExist = chosenName !== undefined || force || partial !== undefined || written.has(wanted);
  if (!mayExist && (await exists(wanted))) {
    await media.body.cancel();
    results.skipped(url, wanted, `${wanted} is there already: skipped. Use --force to replace it.`);
    return;
  }
  written.add(wanted);
  const isExactName = chosenName !== undefined;
  try {
    const file = await saveMedia(media, { folder, name, isExactName, force, request: key, partial, signal });
    results.saved(url, file);
  } catch (error) {
    const kept = await findPartialFile(folder, key);
    if (kept !== undefined) terminal.say(`Kept ${kept.file}.part: the same command resumes it.`);
    throw error;
  }
}

/** Prints a link that works without the key. */
export async function showSignedUrl(
  client: MediaServicesClient,
  { url, format, item, start, end, chapter, lang, subtitles, hours }: SignCommand,
  terminal: Terminal,
): Promise<void> {
  const stream = client.streamUrl(url, format, { item, start, end, chapter, lang, subtitles });
  terminal.result(await client.signedUrl(stream, { lifetimeSeconds: hours * 3600 }));
}

/** Prints what is on a page. */
export async function showInfo(
  client: MediaServicesClient,
  { url, item, start, end, chapter, json }: InfoCommand,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const info = await client.info(url, { signal, item, start, end, chapter, onRetry: sayRetry(terminal) });
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
  for (const { language, label, isOriginal } of info.audioLanguages) {
    terminal.result(printable(`  --lang ${language}  ${label}${isOriginal ? ', original' : ''}`));
  }
  for (const { language, label, isAutomatic } of info.subtitles) {
    terminal.result(printable(`  --subtitles ${language}  ${label}${isAutomatic ? ', automatic' : ''}`));
  }
  for (const [index, { title, start: from }] of info.chapters.entries()) {
    terminal.result(printable(`  --chapter ${index + 1}  ${timeText(from)} ${title}`));
  }
  for (const { index, title, duration } of info.items) {
    const length = duration === null ? '' : ` (${timeText(duration)})`;
    terminal.result(printable(`  --item ${index}  ${title ?? 'untitled'}${length}`));
  }
}

function sizeOf(estimatedBytes: number | null): string {
  return estimatedBytes === null ? 'size unknown' : `about ${sizeText(estimatedBytes)}`;
}
