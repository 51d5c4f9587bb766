import { ID3Writer } from 'browser-id3-writer';
import type { Cover } from '../cover.js';

export interface Id3Fields {
  title: string;
  artist?: string | null | undefined;
  durationSeconds?: number | null | undefined;
  /** URL of the page. */
  sourceUrl?: string | null | undefined;
  cover?: Cover | null | undefined;
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
  return Buffer.from(writer.addTag());
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
