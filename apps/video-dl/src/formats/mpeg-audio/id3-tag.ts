import type { Chapter } from '../chapters.js';
import type { Cover } from '../cover.js';

export interface Id3Fields {
  readonly title: string;
  readonly uploader?: string | null | undefined;
  readonly durationSeconds?: number | null | undefined;
  readonly webpageUrl?: string | null | undefined;
  readonly cover?: Cover | null | undefined;
  readonly chapters?: readonly Chapter[] | undefined;
}

/** They reorder what a player shows around the title. */
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * An ID3v2.3 tag (id3.org/id3v2.3.0) to send before the MP3 frames. ffmpeg's own tag is
 * broken on a pipe, where it can't go back to fill in the size. Ours has no padding: the stream is
 * never edited in place.
 */
export function makeId3Tag(fields: Id3Fields): Buffer {
  const { title, uploader, durationSeconds, webpageUrl, cover } = fields;
  const frames = Buffer.concat([
    textFrame('TIT2', title),
    ...(uploader ? [textFrame('TPE1', uploader)] : []),
    ...(durationSeconds ? [latinFrame('TLEN', `\0${Math.round(durationSeconds * 1000)}`)] : []),
    ...(webpageUrl ? [latinFrame('WOAS', asciiUrl(webpageUrl))] : []),
    // The front cover, without a description.
    ...(cover ? [latinFrame('APIC', `\0${cover.mediaType}\0\u0003\0`, cover.bytes)] : []),
    ...chapterFrames(fields),
  ]);
  // 28 bits, 7 per byte.
  const size = [21, 14, 7, 0].map((shift) => (frames.length >> shift) & 0x7f);
  return Buffer.concat([Buffer.from('ID3\u0003\0\0', 'latin1'), Buffer.from(size), frames]);
}

/** A list at the top level, and its chapters (id3.org/id3v2-chapters-1.0). */
function chapterFrames({ chapters = [], durationSeconds }: Id3Fields): Buffer[] {
  if (chapters.length === 0) return [];
  const ids = chapters.slice(0, maxChapters).map((_, index) => Buffer.from(`chp${index}\0`));
  const shown = chapters.slice(0, maxChapters).map(({ title, startSeconds, endSeconds }, index) => {
    const times = Buffer.alloc(16, 0xff);
    times.writeUInt32BE(Math.round(startSeconds * 1000));
    times.writeUInt32BE(Math.round((endSeconds ?? durationSeconds ?? startSeconds) * 1000), 4);
    return frame('CHAP', [ids[index] ?? Buffer.alloc(0), times, textFrame('TIT2', title)]);
  });
  return [frame('CTOC', [Buffer.from('toc\0'), Buffer.from([3, ids.length]), ...ids]), ...shown];
}

const maxChapters = 255;

/** In UTF-16 with a byte order mark. */
function textFrame(id: string, text: string): Buffer {
  return frame(id, [Buffer.from([1, 0xff, 0xfe]), Buffer.from(line(text), 'utf16le')]);
}

function latinFrame(id: string, text: string, ...more: readonly Uint8Array[]): Buffer {
  return frame(id, [Buffer.from(text, 'latin1'), ...more]);
}

function frame(id: string, parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(10);
  header.write(id, 'latin1');
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
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
