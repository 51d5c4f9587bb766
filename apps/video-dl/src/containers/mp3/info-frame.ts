import { readMp3FrameHeader } from './frame-counter.js';

const framesField = 0x01;

/**
 * A silent MP3 frame that states how many frames follow, which is where players
 * look for the length of a stream whose size they do not know (the Xing or Info
 * header; gabriel.mp3-tech.org/mp3infotag.html). ffmpeg writes its own only where
 * it can go back.
 *
 * @param firstFrame the beginning of the audio, whose kind the frame takes on.
 * @param seconds the length of the audio.
 * @returns undefined when `firstFrame` is no frame.
 */
export function makeInfoFrame(
  firstFrame: Buffer,
  seconds: number,
  kind: 'Xing' | 'Info',
): Buffer | undefined {
  if (firstFrame.length < 4) return undefined;
  // Without a checksum (bit 16) and without padding (bit 9).
  const word = ((firstFrame.readUInt32BE() | 0x0001_0000) & ~0x0000_0200) >>> 0;
  const header = readMp3FrameHeader(word);
  if (header === undefined) return undefined;
  const frame = Buffer.alloc(header.sizeBytes);
  frame.writeUInt32BE(word);
  const offset = 4 + sideInformationBytes(word);
  frame.write(kind, offset, 'latin1');
  frame.writeUInt32BE(framesField, offset + 4);
  frame.writeUInt32BE(Math.round((seconds * header.sampleRate) / header.samples), offset + 8);
  return frame;
}

function sideInformationBytes(word: number): number {
  const isFirstVersion = ((word >>> 19) & 3) === 3;
  const isMono = ((word >>> 6) & 3) === 3;
  if (isFirstVersion) return isMono ? 17 : 32;
  return isMono ? 9 : 17;
}
