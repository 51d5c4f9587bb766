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

const frontCover = 3;

/** A picture block of FLAC (RFC 9639, 8.8), which comments in Ogg contain too. */
export function pictureBlock({ bytes, mediaType }: Cover): Buffer {
  // The description is empty, and the sizes in pixels stay unknown.
  const header = Buffer.alloc(32 + mediaType.length);
  header.writeUInt32BE(frontCover);
  header.writeUInt32BE(mediaType.length, 4);
  header.write(mediaType, 8, 'latin1');
  header.writeUInt32BE(bytes.length, header.length - 4);
  return Buffer.concat([header, bytes]);
}

export function isWebp(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return start.startsWith('RIFF') && start.endsWith('WEBP');
}
