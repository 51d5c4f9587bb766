import { childBoxes, findBox } from './box.js';
import { protectedByDrm } from '../rejection.js';

/** Sample entries of Common Encryption (ISO 23001-7) and of Apple's FairPlay. */
const encryptedEntries = new Set(['encv', 'enca', 'enct', 'encs', 'drms', 'drmi']);

/**
 * @param moov a movie header, also that of an initialisation segment
 * @throws Rejection `drm_protected` if it describes encrypted samples; Mp4FormatError, RangeError for a damaged box
 */
export function assertNotEncrypted(moov: Buffer): void {
  const boxes = childBoxes(moov);
  const entries = boxes
    .filter(({ type }) => type === 'trak')
    .flatMap((trak) => {
      const description = findBox(trak, 'mdia', 'minf', 'stbl', 'stsd');
      return description === undefined ? [] : childBoxes(description.bytes, 16);
    });
  const isEncrypted = entries.some(({ type, bytes }) => encryptedEntries.has(type) || bytes.includes('sinf'));
  if (isEncrypted || boxes.some(({ type }) => type === 'pssh')) throw protectedByDrm();
}
