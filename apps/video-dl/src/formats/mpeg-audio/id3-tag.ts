import { ID3Writer } from 'browser-id3-writer';
import type { Chapter } from '../chapters.js';
import type { Cover } from '../cover.js';

export interface Id3Fields {
  title: string;
  artist?: string | null | undefined;
  durationSeconds?: number | null | undefined;
  /** URL of the page. */
  sourceUrl?: string | null | undefined;
  cover?: Cover | null | undefined;
  chapters?: readonly Chapter[] | undefined;
}

const frontCover = 3;
/** They reorder what a player shows around the title. */
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * An ID3v2.3 tag (id3.org/id3v2.3.0) to send before the MP3 frames. ffmpeg's own tag is
 * broken on a pipe, where it can't go back to fill in the size.
 */
export function makeId3Tag(fields: Id3Fields): Buffer {
  // No padding: the stream is never edited in place.
  const writer = Object.assign(new ID3Writer(new ArrayBuffer(0)), { padding: 0 });
  writer.setFrame('TIT2', line(fields.title));
  if (fields.artist) writer.setFrame('TPE1', [line(fields.artist)]);
  if (fields.durationSeconds) writer.setFrame('TLEN', Math.round(fields.durationSeconds * 1000));
  if (fields.sourceUrl) writer.setFrame('WOAS', asciiUrl(fields.sourceUrl));
  const { cover } = fields;
  if (cover) {
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the library's const enum has no value at run time
    writer.setFrame('APIC', { type: frontCover, data: new Uint8Array(cover.bytes).buffer, description: '' });
  }
  return withFrames(Buffer.from(writer.addTag()), chapterFrames(fields));
}

/** The library knows no chapters (id3.org/id3v2-chapters-1.0). */
function chapterFrames({ chapters = [], durationSeconds }: Id3Fields): Buffer[] {
  if (chapters.length === 0) return [];
  const ids = chapters.slice(0, maxChapters).map((_, index) => Buffer.from(`chp${index}\0`));
  const shown = chapters.slice(0, maxChapters).map(({ title, startSeconds, endSeconds }, index) => {
    const times = Buffer.alloc(16, 0xff);
    times.writeUInt32BE(Math.round(startSeconds * 1000));
    times.writeUInt32BE(Math.round((endSeconds ?? durationSeconds ?? startSeconds) * 1000), 4);
    const text = Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(line(title), 'utf16le')]);
    return frame('CHAP', [ids[index] ?? Buffer.alloc(0), times, frame('TIT2', [text])]);
  });
  // A list at the top level, in order.
  return [frame('CTOC', [Buffer.from('toc\0'), Buffer.from([3, ids.length]), ...ids]), ...shown];
}

const maxChapters = 255;

function frame(id: string, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(10);
  header.write(id, 'latin1');
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

function withFrames(tag: Buffer, frames: readonly Buffer[]): Buffer {
  const whole = Buffer.concat([tag, ...frames]);
  // 28 bits, 7 per byte.
  const size = whole.length - 10;
  for (let index = 0; index < 4; index += 1) whole.writeUInt8((size >> (21 - 7 * index)) & 0x7f, 6 + index);
  return whole;
}

function line(text: string): string {
  const clean = text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(bidiControls, '')
    .trim();
  return withoutLoneSurrogates(clean.slice(0, 500));
}

/** Link frames are ISO 8859-1, so the URL is percent-encoded. */
function asciiUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href : encodeURI(withoutLoneSurrogates(url));
}

function withoutLoneSurrogates(text: string): string {
  return text.replace(/\p{Cs}+/gu, '');
}
