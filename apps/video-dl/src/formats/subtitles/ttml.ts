import { SaxesParser } from 'saxes';
import { damaged } from '../rejection.js';
import { type Cue, maxCues } from './cues.js';

interface Clocks {
  readonly framesPerSecond: number;
  readonly ticksPerSecond: number;
}

/** Reads the paragraphs of TTML and DFXP; styles, regions and times of parts are ignored. */
export function readTtml(text: string): Cue[] {
  const cues: Cue[] = [];
  let clocks: Clocks = { framesPerSecond: 30, ticksPerSecond: 1 };
  let times: readonly [number, number] | null = null;
  let shown = '';
  const parser = new SaxesParser();
  const fail = () => {
    throw damaged("its subtitles can't be read");
  };
  parser.on('error', fail);
  parser.on('doctype', fail);
  parser.on('opentag', ({ name, attributes }) => {
    const local = localName(name);
    if (local === 'tt') clocks = clocksOf(attributes);
    else if (local === 'p') [times, shown] = [timesOf(attributes, clocks), ''];
    else if (local === 'br') shown += '\n';
  });
  parser.on('text', (part) => {
    // Line breaks in the file are spaces.
    if (times !== null) shown += part.replaceAll(/\s+/g, ' ');
  });
  parser.on('closetag', ({ name }) => {
    if (localName(name) !== 'p' || times === null) return;
    if (cues.length < maxCues) cues.push({ startSeconds: times[0], endSeconds: times[1], text: shown });
    times = null;
  });
  parser.write(text).close();
  return cues;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function clocksOf(attributes: Readonly<Record<string, string>>): Clocks {
  const rate = (name: string) =>
    Number(Object.entries(attributes).find(([key]) => localName(key) === name)?.[1]);
  const framesPerSecond = rate('frameRate') || 30;
  return { framesPerSecond, ticksPerSecond: rate('tickRate') || 1 };
}

function timesOf(
  { begin, end, dur }: Readonly<Record<string, string>>,
  clocks: Clocks,
): readonly [number, number] | null {
  const start = begin === undefined ? 0 : secondsOf(begin, clocks);
  const stop = end === undefined ? start + secondsOf(dur ?? '', clocks) : secondsOf(end, clocks);
  return Number.isNaN(start) || Number.isNaN(stop) ? null : [start, stop];
}

/** `00:00:01.5`, `00:00:01:12` with frames, `1.5s`, `200ms`, `15f`, `90000t`; NaN for anything else. */
function secondsOf(text: string, { framesPerSecond, ticksPerSecond }: Clocks): number {
  const clock = /^(\d{1,4}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)(?::(\d{1,3}))?$/.exec(text);
  if (clock !== null) {
    const [, hours, minutes, seconds, frames = 0] = clock;
    return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(frames) / framesPerSecond;
  }
  const [, value, unit = ''] = /^(\d{1,15}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = {
    h: 3600,
    m: 60,
    s: 1,
    ms: 0.001,
    f: 1 / framesPerSecond,
    t: 1 / ticksPerSecond,
  };
  return Number(value) * (units[unit] ?? NaN);
}
