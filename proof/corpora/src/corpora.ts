import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startStack, type Stack } from '@media-services/stack';
import { logsDir, UserError, type Progress } from '@media-services/stack/set-up';
import { z } from 'zod';
import { ask, described, isRetryable, jsonOf, type Answer } from './ask.js';
import { startFileSite, type FileSite } from './file-site.js';
import { decodeImage } from './image.js';
import { decode, differences, durationDifference, type Decoded } from './media.js';

export interface CorporaOptions {
  readonly progress: Pick<Progress, 'say' | 'step'>;
  readonly env: NodeJS.ProcessEnv;
  readonly folders: readonly string[];
}

const mediaExtensions =
  /\.(?:3gp|aac|ac3|aif|aiff|amr|ape|asf|avi|caf|dv|eac3|flac|flv|ivf|m2ts|m4a|m4b|m4v|mka|mkv|mov|mp2|mp3|mp4|mpc|mpeg|mpg|mts|oga|ogg|ogv|opus|tak|ts|tta|vob|w64|wav|webm|wma|wmv|wv)$/i;
const imageExtensions = /\.(?:avif|bmp|gif|heic|jpe?g|png|tiff?|webp)$/i;
/** Extensions that bg-removal supports. */
const imageFormats = new Set(['jpeg', 'png', 'webp']);

/** One difference from ffmpeg or libvips. */
interface Finding {
  readonly file: string;
  readonly what: string;
}

/**
 * Sends every media file and image below the folders through the services and compares the
 * results with what ffmpeg and libvips decode.
 * @returns 0 where all of them came out right, else 1
 */
export async function runCorpora({ progress, env, folders }: CorporaOptions): Promise<number> {
  const files = (await Promise.all(folders.map(filesBelow))).flat().toSorted();
  const media = files.filter((file) => mediaExtensions.test(file));
  const images = files.filter((file) => imageExtensions.test(file));
  if (media.length + images.length === 0) throw new UserError('The folders have no media and no images.');
  const scratch = mkdtempSync(join(tmpdir(), 'media-services-corpora-'));
  await using site = await startFileSite(media);
  try {
    await using stack = await startServices(site, env);
    await progress.step('Services', (log) => stack.healthy({ log }));
    const run: Run = { stack, site, scratch };
    const findings = [
      ...(await each(progress, 'Media', media, async (file) => checkMedia(run, file))),
      ...(await each(progress, 'Images', images, async (file) => checkImage(run, file))),
    ];
    for (const { file, what } of findings) progress.say(`${file}: ${what}`);
    const wrong = new Set(findings.map(({ file }) => file)).size;
    progress.say(`${files.length} files: ${media.length} media, ${images.length} images; ${wrong} wrong`);
    return findings.length === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Run {
  readonly stack: Stack;
  readonly site: FileSite;
  readonly scratch: string;
}

async function startServices(site: FileSite, env: NodeJS.ProcessEnv): Promise<Stack> {
  return startStack({
    logsDir: join(logsDir, 'corpora'),
    env: {
      ...env,
      ALLOWED_PRIVATE_SOURCES: site.host,
      // Every request uses a separate client.
      TRUSTED_PROXIES: '127.0.0.1',
      // This checks correctness, not speed.
      FIRST_BYTE_TIMEOUT_SECONDS: '120',
      EXTRACTION_TIMEOUT_SECONDS: '120',
    },
  });
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw new UserError(`${folder} cannot be read.`);
  });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function each(
  progress: CorporaOptions['progress'],
  title: string,
  files: readonly string[],
  check: (file: string) => Promise<string[]>,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  await progress.step(`${title}, ${files.length}`, async (log) => {
    for (const [index, file] of files.entries()) {
      log(`${index + 1} of ${files.length}: ${basename(file)}`);
      for (const what of await check(file)) findings.push({ file, what });
    }
  });
  return findings;
}

const infoSchema = z.object({
  duration: z.number().nullable(),
  downloads: z.array(z.object({ target: z.string() })),
});

async function checkMedia(run: Run, file: string): Promise<string[]> {
  const source = await decode(file);
  const url = encodeURIComponent(run.site.urlOf(file));
  const info = await ask(`${run.stack.url}/api/info?url=${url}`);
  const isReadable = source !== undefined && (source.hasVideo || source.hasAudio);
  if (!isReadable && info.status !== 200) return unreadable('info', info);
  const found = info.status === 200 ? [] : unlessDamaged(source, `info: ${described(info)}`);
  const { downloads = [], duration = null } = infoSchema.safeParse(jsonOf(info.body)).data ?? {};
  if (source !== undefined) found.push(...durationDifference(source, duration));
  for (const { target } of downloads.filter((download) => download.target !== 'mp4-1080')) {
    const path = target === 'mp3' ? 'stream' : 'stream/video';
    const kind = target === 'mp3' ? 'mp3' : 'mp4';
    const answer = await ask(`${run.stack.url}/api/${path}?url=${url}`);
    if (isReadable) found.push(...(await checkStream(run, source, answer, kind)));
    else if (answer.isWhole) found.push(...unreadable(kind, answer));
  }
  return found;
}

async function checkStream(
  { scratch }: Run,
  source: Decoded,
  answer: Answer,
  target: 'mp3' | 'mp4',
): Promise<string[]> {
  if (answer.status !== 200 || !answer.isWhole)
    return unlessDamaged(source, `${target}: ${described(answer)}`);
  const file = join(scratch, `result.${target}`);
  await writeFile(file, answer.body);
  const result = await decode(file);
  if (result === undefined) return [`${target}: a clean 200 that ffmpeg can't read`];
  return differences(source, result, target).map((difference) => `${target}: ${difference}`);
}

/** A damaged source may be rejected or reset; only an intact one must succeed. */
function unlessDamaged(source: Decoded | undefined, what: string): string[] {
  return source?.isDamaged === false ? [what] : [];
}

/** An unreadable file must not be reported as retryable. */
function unreadable(name: string, answer: Answer): string[] {
  if (answer.status === 200) return [`${name}: 200 for a file that the oracle can't read`];
  return isRetryable(answer) ? [`${name}: retryable, though it never works: ${described(answer)}`] : [];
}

async function checkImage({ stack }: Run, file: string): Promise<string[]> {
  const bytes = await readFile(file);
  const expected = await decodeImage(bytes);
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), basename(file));
  const answer = await ask(`${stack.url}/api/remove-background`, { method: 'POST', body: form });
  if (expected === undefined || !imageFormats.has(expected.format)) return unreadable('cut-out', answer);
  // An image without a subject, or one that is too large, is rejected for good reasons.
  if ([413, 422].includes(answer.status) && !isRetryable(answer)) return [];
  if (answer.status !== 200 || !answer.isWhole) return [`cut-out: ${described(answer)}`];
  const result = await decodeImage(answer.body);
  const isRight =
    result?.format === 'png' && result.width === expected.width && result.height === expected.height;
  if (isRight) return [];
  const size = result === undefined ? 'unreadable' : `${result.width} × ${result.height} ${result.format}`;
  return [`cut-out: ${size} instead of ${expected.width} × ${expected.height}`];
}
