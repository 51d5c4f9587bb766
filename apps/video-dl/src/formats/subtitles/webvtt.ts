import { type Cue, withoutTags } from './cues.js';

const time = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})`;
const timing = new RegExp(String.raw`^\s*${time}\s+-->\s+${time}`);
const timestampMap = new RegExp(String.raw`^X-TIMESTAMP-MAP=(?:.*,)?LOCAL:${time}`);

interface TimedText {
  readonly cues: readonly Cue[];
  /** In a segment of an HLS stream: where its time 0 is on the clock of the media (RFC 8216, 3.5). */
  readonly zeroSeconds: number | null;
}

/** Reads WebVTT, and SubRip, whose times have a comma. Comments and styles have no times, so they are skipped. */
export function readWebVtt(text: string): TimedText {
  const cues: Cue[] = [];
  let zeroSeconds: number | null = null;
  let times: readonly [number, number] | null = null;
  let lines: string[] = [];
  const finish = () => {
    if (times !== null) {
      const shown = decoded(withoutTags(lines.join('\n')));
      cues.push({ startSeconds: times[0], endSeconds: times[1], text: shown });
    }
    times = null;
    lines = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const match = timing.exec(line);
    if (match !== null) {
      finish();
      times = [seconds(match.slice(1, 5)), seconds(match.slice(5, 9))];
    } else if (line.trim() === '') finish();
    else if (times !== null) lines.push(line);
    else zeroSeconds = zeroOf(line) ?? zeroSeconds;
  }
  finish();
  return { cues, zeroSeconds };
}

function zeroOf(line: string): number | null {
  const local = timestampMap.exec(line);
  const ticks = /MPEGTS:(\d{1,13})/.exec(line)?.[1];
  return local === null || ticks === undefined ? null : Number(ticks) / 90_000 - seconds(local.slice(1, 5));
}

/** Hours, minutes, seconds and a fraction. */
function seconds([hours = '0', minutes = '0', whole = '0', fraction = '0']: readonly (
  | string
  | undefined
)[]): number {
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(`${whole}.${fraction}`);
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

function decoded(text: string): string {
  const entity = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,5}));/gi;
  return text.replaceAll(entity, (whole: string, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10_ffff ? String.fromCodePoint(code) : '';
  });
}

export function writeWebVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ startSeconds, endSeconds, text }) => {
    // A line with an arrow would begin a cue.
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `${clock(startSeconds, '.')} --> ${clock(endSeconds, '.')}\n${escaped}\n`;
  });
  return ['WEBVTT\n', ...blocks].join('\n');
}

export function writeSubRip(cues: readonly Cue[]): string {
  return cues
    .map(
      ({ startSeconds, endSeconds, text }, index) =>
        `${index + 1}\n${clock(startSeconds, ',')} --> ${clock(endSeconds, ',')}\n${text.replaceAll('-->', '→')}\n`,
    )
    .join('\n');
}

function clock(at: number, separator: '.' | ','): string {
  const milliseconds = Math.round(at * 1000);
  const pad = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0');
  const [hours, minutes, whole] = [
    milliseconds / 3_600_000,
    (milliseconds / 60_000) % 60,
    (milliseconds / 1000) % 60,
  ];
  return `${pad(hours)}:${pad(minutes)}:${pad(whole)}${separator}${pad(milliseconds % 1000, 3)}`;
}
