import { z } from 'zod';

export const maxCues = 20_000;
const maxCueCharacters = 1_000;

export const cuesSchema = z
  .array(
    z.object({ startSeconds: z.number(), endSeconds: z.number(), text: z.string().max(maxCueCharacters) }),
  )
  .max(maxCues);

/** Text that is shown for a time, in seconds. Plain: without markup. */
export type Cue = Readonly<z.output<typeof cuesSchema>[number]>;

/** Later than any video ends. */
const maxSeconds = 1e6;

/** Puts what a reader found in order. Segments of a playlist repeat the cues that are on screen where they begin. */
export function asCues(found: Iterable<Cue>): Cue[] {
  const cues = new Map<string, Cue>();
  for (const { startSeconds, endSeconds, text: markup } of found) {
    const text = shownText(markup);
    const start = Math.max(0, startSeconds);
    if (text === '' || !(start < endSeconds && endSeconds < maxSeconds)) continue;
    cues.set(`${start} ${endSeconds} ${text}`, { startSeconds: start, endSeconds, text });
    if (cues.size >= maxCues) break;
  }
  return [...cues.values()].sort((a, b) => a.startSeconds - b.startSeconds);
}

/** Of HTML, and of WebVTT, where it may be a time. */
const tag = /<[a-z\d/!?][^<>]*>/gi;
/** What is left of nested tags. */
const tagStart = /<(?=[a-z/!?])/gi;
/** Players obey these instructions of ASS and MicroDVD in any subtitles. */
const override = /\{(?:\\|[a-z]:)[^{}]*\}/gi;

export function withoutTags(text: string): string {
  return text.replaceAll(tag, '');
}

/** One line or a few, without what a player would run: HTML, instructions of ASS, control characters. */
function shownText(text: string): string {
  return (
    withoutTags(text)
      .replaceAll(tagStart, '')
      .replaceAll(override, '')
      // ASS hides what is in braces.
      .replaceAll('{', '(')
      .replaceAll('}', ')')
      .split('\n')
      .map((line) => line.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim())
      .filter((line) => line !== '')
      .join('\n')
      .slice(0, maxCueCharacters)
      .replace(/\p{Cs}$/u, '')
  );
}
