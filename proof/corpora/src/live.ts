import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Double, videoId } from '@media-services/fault-site/double';
import { startHealthyStack } from '@media-services/stack';
import { logsDir, type Progress } from '@media-services/stack/set-up';
import { z } from 'zod';
import { ask, jsonOf, type Answer } from './ask.js';
import { doublePages, livePages, type LivePage } from './live-pages.js';
import { decode } from './media.js';

/** Each clip's length: enough to show that the media arrives and decodes. */
const clipSeconds = 3;
const requestTimeoutMs = 180_000;

export interface LiveOptions {
  readonly progress: Pick<Progress, 'say' | 'step'>;
  readonly env: NodeJS.ProcessEnv;
  /** Reads the double of popular sites instead of the internet. */
  readonly double: boolean;
  /** A JSON file with the last run's results, which this run replaces. */
  readonly state?: string | undefined;
  /** Where a Markdown text goes if a page that worked in the last run doesn't any more. */
  readonly report?: string | undefined;
}

/** What came of one page: a short text for each column, and whether all of it worked. */
export interface LiveResult {
  readonly name: string;
  readonly url: string;
  readonly info: string;
  readonly mp3: string;
  readonly mp4: string;
  readonly works: boolean;
}

/** Looks every page up and downloads the first seconds of its MP3 and MP4. A site that is down fails only its row. */
export async function runLive({ progress, env, double, state, report }: LiveOptions): Promise<void> {
  await using sites = double ? await Double.start() : undefined;
  const scratch = mkdtempSync(join(tmpdir(), 'media-services-live-'));
  try {
    await using stack = await progress.step('Services', () =>
      startHealthyStack({
        logsDir: join(logsDir, 'live'),
        env: { ...env, ...sites?.settings, SERVICES: 'video-dl', TRUSTED_PROXIES: '127.0.0.1' },
      }),
    );
    const pages = double ? doublePages(videoId('plain')) : livePages;
    const results = await progress.step(`${pages.length} pages`, async (log) => {
      const all: LiveResult[] = [];
      for (const page of pages) {
        log(page.name);
        all.push(await tryPage(page, { gateway: stack.url, scratch }));
      }
      return all;
    });
    progress.say(`\n${liveTable(results)}`);
    const stopped = stoppedPages(state === undefined ? [] : await lastResults(state), results);
    if (stopped.length > 0)
      progress.say(`Worked in the last run: ${stopped.map(({ name }) => name).join(', ')}`);
    if (report !== undefined && stopped.length > 0) {
      const names = stopped.map(({ name, url }) => `- [${name}](${url})`).join('\n');
      await writeFile(report, `These pages worked a week ago:\n\n${names}\n\n${liveTable(results)}\n`);
    }
    if (state !== undefined) await writeFile(state, `${JSON.stringify(results, null, 2)}\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Place {
  readonly gateway: string;
  readonly scratch: string;
}

const infoSchema = z.object({ downloads: z.array(z.object({ target: z.string() })) });

async function tryPage(page: LivePage, place: Place): Promise<LiveResult> {
  const query = `url=${encodeURIComponent(page.url)}`;
  const looked = await timed(`${place.gateway}/api/info?${query}`);
  const info = outcome(looked);
  const targets = infoSchema
    .safeParse(jsonOf(looked.answer.body))
    .data?.downloads.map(({ target }) => target);
  if (targets === undefined) return { ...page, info, mp3: '', mp4: '', works: false };
  const clip = `${query}&start=0&end=${clipSeconds}`;
  const mp3 = await tryClip(`${place.gateway}/api/stream?${clip}`, 'mp3', place);
  const hasVideo = targets.some((target) => target.startsWith('mp4'));
  const mp4 = hasVideo
    ? await tryClip(`${place.gateway}/api/stream/video?${clip}`, 'mp4', place)
    : { text: 'no video', works: true };
  return { ...page, info, mp3: mp3.text, mp4: mp4.text, works: mp3.works && mp4.works };
}

/** Downloads a clip and decodes all of it. */
async function tryClip(
  url: string,
  kind: 'mp3' | 'mp4',
  { scratch }: Place,
): Promise<{ readonly text: string; readonly works: boolean }> {
  const { answer, seconds } = await timed(url);
  if (answer.status !== 200 || !answer.isWhole) return { text: outcome({ answer, seconds }), works: false };
  const file = join(scratch, `clip.${kind}`);
  await writeFile(file, answer.body);
  const decoded = await decode(file);
  const isRight =
    decoded !== undefined && !decoded.isDamaged && (kind === 'mp4' ? decoded.hasVideo : decoded.hasAudio);
  return { text: `${isRight ? 'ok' : 'does not decode'}, ${seconds.toFixed(1)} s`, works: isRight };
}

async function timed(url: string): Promise<{ answer: Answer; seconds: number }> {
  const startedAt = performance.now();
  const answer = await ask(url, { signal: AbortSignal.timeout(requestTimeoutMs) });
  return { answer, seconds: (performance.now() - startedAt) / 1000 };
}

const problemSchema = z.object({ code: z.string() });

function outcome({ answer, seconds }: { answer: Answer; seconds: number }): string {
  const { status, isWhole, body } = answer;
  const code = problemSchema.safeParse(jsonOf(body)).data?.code;
  const what = isWhole ? (status === 200 ? 'ok' : `${status} ${code ?? ''}`.trim()) : 'broken off';
  return `${what}, ${seconds.toFixed(1)} s`;
}

/** The results as a Markdown table. */
function liveTable(results: readonly LiveResult[]): string {
  const rows = results.map(({ name, info, mp3, mp4 }) => [name, info, mp3, mp4]);
  const all = [['Page', 'info', `MP3, first ${clipSeconds} s`, `MP4, first ${clipSeconds} s`], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [header = [], ...body] = all.map(line);
  return [header, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n');
}

/** The pages that worked in the last run and don't any more. */
function stoppedPages(
  last: readonly Pick<LiveResult, 'url' | 'works'>[],
  now: readonly LiveResult[],
): readonly LiveResult[] {
  return now.filter(({ url, works }) => !works && last.some((each) => each.url === url && each.works));
}

const stateSchema = z.array(z.object({ url: z.string(), works: z.boolean() }));

async function lastResults(file: string): Promise<z.infer<typeof stateSchema>> {
  const text = await readFile(file, 'utf8').catch(() => undefined); // the first run
  return text === undefined || text.trim() === '' ? [] : stateSchema.parse(JSON.parse(text));
}
