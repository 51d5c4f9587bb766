/** Larger covers are omitted, because they delay the first byte of audio. */
export const maxCoverBytes = 512 * 1024;

/** The cover of an audio file, of a format that every player shows. */
export interface Cover {
  readonly bytes: Uint8Array;
  readonly mediaType: 'image/jpeg' | 'image/png';
}

/** A cover of these bytes, whatever content type a site states. Null for other formats and large images. */
export function coverFrom(bytes: Uint8Array): Cover | null {
  if (bytes.length > maxCoverBytes) return null;
  const start = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  if (start.startsWith('ffd8ff')) return { bytes, mediaType: 'image/jpeg' };
  return start === '89504e470d0a1a0a' ? { bytes, mediaType: 'image/png' } : null;
}

export function isWebp(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return start.startsWith('RIFF') && start.endsWith('WEBP');
}
