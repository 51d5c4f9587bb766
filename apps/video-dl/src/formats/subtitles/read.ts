import { z } from 'zod';
import { damaged } from '../rejection.js';
import { asCues, type Cue } from './cues.js';
import { readTtml } from './ttml.js';
import { readWebVtt } from './webvtt.js';

export const subtitleFormats = ['json3', 'vtt', 'srt', 'ttml'] as const;
export type SubtitleFormat = (typeof subtitleFormats)[number];

/**
 * Reads subtitles: one file, or the segments of a playlist.
 * @throws Rejection `upstream_error`
 */
export function readSubtitles(files: readonly Uint8Array[], format: SubtitleFormat): Cue[] {
  const texts = files.map((bytes) => new TextDecoder().decode(bytes));
  if (format === 'json3') return asCues(texts.flatMap(readJson3));
  if (format === 'ttml') return asCues(texts.flatMap(readTtml));
  return asCues(joined(texts.map(readWebVtt)));
}

/** The clock of MPEG-TS starts again after so many seconds. */
const wrapSeconds = 2 ** 33 / 90_000;

/** The stream begins where the first segment does. */
function* joined(segments: readonly ReturnType<typeof readWebVtt>[]): Generator<Cue> {
  const first = segments.find(({ zeroSeconds }) => zeroSeconds !== null)?.zeroSeconds ?? 0;
  for (const { cues, zeroSeconds } of segments) {
    const difference = (zeroSeconds ?? first) - first;
    const shift = difference < -wrapSeconds / 2 ? difference + wrapSeconds : difference;
    for (const { startSeconds, endSeconds, text } of cues)
      yield { startSeconds: startSeconds + shift, endSeconds: endSeconds + shift, text };
  }
}

/** YouTube's own format. */
const json3Schema = z.object({
  events: z.array(
    z.object({
      tStartMs: z.number().default(0),
      dDurationMs: z.number().default(0),
      /** A line break between two lines of automatic captions. */
      aAppend: z.number().optional(),
      segs: z.array(z.object({ utf8: z.string().default('') })).default([]),
    }),
  ),
});

function readJson3(text: string): Cue[] {
  const { events } = parsedJson3(text);
  const cues = events
    .filter(({ aAppend }) => aAppend === undefined)
    .map(({ tStartMs, dDurationMs, segs }) => ({
      startSeconds: tStartMs / 1000,
      endSeconds: (tStartMs + dDurationMs) / 1000,
      text: segs.map(({ utf8 }) => utf8).join(''),
    }))
    .filter(({ text: shown }) => shown.trim() !== '');
  // An automatic line stays while the next one is written below it. Shown alone, it ends there.
  if (cues.length === events.length) return cues;
  return cues.map((cue, index) => {
    const next = cues[index + 1]?.startSeconds ?? Infinity;
    return next > cue.startSeconds ? { ...cue, endSeconds: Math.min(cue.endSeconds, next) } : cue;
  });
}

function parsedJson3(text: string): z.output<typeof json3Schema> {
  try {
    return json3Schema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError)
      throw damaged("its subtitles can't be read");
    throw error;
  }
}
