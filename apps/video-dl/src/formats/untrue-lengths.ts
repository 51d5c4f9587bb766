import { id3TagBytes, readMp3FrameHeader, readXingHeader } from './mpeg-audio/frames.js';

/** A field of a file. `end` is exclusive. */
export interface Field {
  readonly start: number;
  readonly end: number;
}

/** How much of a file's beginning to search. */
export const searchedBytes = 4096;

/** Whether a file that starts with this byte may have such fields, or the packets of a transport stream. */
export function isSearched(firstByte: number | undefined): boolean {
  return firstByte === 0xff || ['R', 'F', 'I', 'G'].includes(String.fromCharCode(firstByte ?? 0));
}

/**
 * Fields in which a complete file states a wrong length or a placeholder. Without them, ffmpeg
 * measures the length itself.
 * @param head the beginning of the file
 */
export function untrueLengths(head: Buffer, fileBytes: number): readonly Field[] {
  if (head.length < 16) return [];
  const name = head.toString('latin1', 0, 4);
  if (name === 'RIFF') return isStreamedAvi(head) ? aviLengths(head) : [];
  return name.startsWith('FLV') ? flvDuration(head, fileBytes) : impossibleMp3Length(head, fileBytes);
}

/** Whether it is an AVI whose writer couldn't go back to fill in sizes and lengths. */
export function isStreamedAvi(head: Buffer): boolean {
  const isAvi = head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'AVI ';
  return isAvi && [0, 0xffff_ffff].includes(head.readUInt32LE(4));
}

const lengthInStreamHeader = 40;

function aviLengths(head: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = head.indexOf('strh'); at >= 0; at = head.indexOf('strh', at + 4)) {
    const start = at + lengthInStreamHeader;
    fields.push({ start, end: start + 4 });
  }
  return fields;
}

const amfNumber = 0;
const scriptTag = 18;

/**
 * Some programs cut and join FLV files without updating `duration`. We ignore it if `filesize`
 * proves that the file is complete. ffmpeg then uses the last timestamp.
 */
function flvDuration(head: Buffer, fileBytes: number): Field[] {
  const tagAt = head.readUInt32BE(5) + 4;
  if (head[tagAt] !== scriptTag) return [];
  const [size, duration] = ['filesize', 'duration'].map((key) => amfNumberAt(head, key));
  if (size === undefined || duration === undefined || head.readDoubleBE(size) !== fileBytes) return [];
  return [{ start: duration, end: duration + 8 }];
}

/** Whether it is an FLV whose length ffmpeg takes from its last timestamp, because the file states none or a hidden one. */
export function isFlvWithoutLength(head: Buffer, hidden: readonly Field[]): boolean {
  if (head.toString('latin1', 0, 3) !== 'FLV') return false;
  const duration = amfNumberAt(head, 'duration');
  return hidden.length > 0 || duration === undefined || head.readDoubleBE(duration) === 0;
}

function amfNumberAt(head: Buffer, key: string): number | undefined {
  const name = Buffer.from(`\0${String.fromCharCode(key.length)}${key}`, 'latin1');
  const found = head.indexOf(name);
  const at = found + name.length;
  return found >= 0 && head[at] === amfNumber && at + 9 <= head.length ? at + 1 : undefined;
}

/** MP3 has 8 to 320 kbit/s. */
const mp3BitsPerSecond = { min: 7_000, max: 340_000 };

/** The frame count in a Xing header, if it is impossible for this file size. */
function impossibleMp3Length(head: Buffer, fileBytes: number): Field[] {
  const tagBytes = id3TagBytes(head);
  if (tagBytes + 4 > head.length) return [];
  const frame = readMp3FrameHeader(head.readUInt32BE(tagBytes));
  if (frame === undefined) return [];
  const stated = readXingHeader(head.subarray(tagBytes, tagBytes + frame.sizeBytes));
  if (stated === undefined) return [];
  const bitsPerSecond = ((fileBytes - tagBytes) * 8) / stated.seconds;
  const isPossible = bitsPerSecond >= mp3BitsPerSecond.min && bitsPerSecond <= mp3BitsPerSecond.max;
  const start = tagBytes + stated.framesAt;
  return isPossible ? [] : [{ start, end: start + 4 }];
}

/** A piece of a file with zeros in place of the fields. @param offset of the piece in the file */
export function withoutFields(piece: Buffer, offset: number, fields: readonly Field[]): Buffer {
  const inside = fields.filter(({ start, end }) => start < offset + piece.length && end > offset);
  if (inside.length === 0) return piece;
  const copy = Buffer.from(piece);
  for (const { start, end } of inside)
    copy.fill(0, Math.max(0, start - offset), Math.min(copy.length, end - offset));
  return copy;
}
