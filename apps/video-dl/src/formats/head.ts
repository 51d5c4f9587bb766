import { FileStructure } from './file-structure.js';
import { damagedFile } from './rejection.js';
import { DamagedMediaError } from './structure-check.js';
import { isDamage } from './mp4/box.js';
import { readMp4 } from './mp4/head.js';
import { readMatroska } from './matroska/head.js';
import { matroskaIds } from './matroska/ebml.js';
import { readBareFrames } from './mpeg-audio/head.js';
import { readOgg } from './ogg/head.js';
import { type HeadStep, type MediaHead, noHead } from './media-head.js';
import { wavSeconds } from './riff/chunks.js';
import { MissingBytes, PartialFile, type FilePiece } from './partial-file.js';

/**
 * Parses the header of a file, wherever it is in the file (ISO 14496-12, 4.2, 4.3).
 * @param pieces the parts read so far
 * @param totalBytes of the file, null while unknown
 * @param hasRanges whether single parts of the file can be read
 * @throws Rejection for an MP4 that is encrypted or has lost a part
 */
export function readHead(
  pieces: readonly FilePiece[],
  totalBytes: number | null,
  hasRanges = true,
): HeadStep {
  try {
    const head = readFormat(new PartialFile(pieces), totalBytes, hasRanges);
    return { kind: 'head', ...noHead, ...head };
  } catch (error) {
    if (error instanceof MissingBytes) return { kind: 'need', parts: error.parts };
    if (isDamage(error)) return { kind: 'head', ...noHead };
    throw error;
  }
}

function readFormat(file: PartialFile, totalBytes: number | null, hasRanges: boolean): Partial<MediaHead> {
  const start = file.read(0, 16);
  if (start.length < 16) return {};
  const [name, type] = [start.toString('latin1', 0, 4), start.toString('latin1', 8, 12)];
  if (/^[a-z]{4}$/.test(start.toString('latin1', 4, 8)))
    return readMp4(file, totalBytes ?? Infinity, hasRanges);
  const readableBytes = hasRanges ? totalBytes : null;
  if (readableBytes !== null) assertHoldsWhatItStates(file.read(0, checkedBytes), readableBytes);
  if (name === 'OggS') return readOgg(file, readableBytes);
  if (name === 'fLaC') return { audioFile: 'flac' };
  if (name === 'RIFF' && type === 'WAVE') return { audioFile: 'wav', lengthSeconds: wavSeconds(file) };
  // Its writer couldn't go back to fill in sizes and lengths.
  const isAvi = name === 'RIFF' && type === 'AVI ';
  if (isAvi && [0, 0xffff_ffff].includes(start.readUInt32LE(4)))
    return { correctedLength: { seconds: null } };
  return start.readUInt32BE(0) === matroskaIds.header
    ? readMatroska(file)
    : readBareFrames(file, totalBytes, hasRanges);
}

/** Headers are near the beginning. */
const checkedBytes = 64 * 1024;

/** @throws Rejection for a file that lost its end */
function assertHoldsWhatItStates(beginning: Buffer, totalBytes: number): void {
  try {
    const structure = new FileStructure();
    structure.read(0, beginning);
    structure.endsAt(totalBytes);
  } catch (error) {
    if (!(error instanceof DamagedMediaError)) throw error;
    throw damagedFile(error.message);
  }
}
