import { DomainError } from '@media-services/http-common';

/** What is accepted, decided by the content and never by the name. */
export type ImageType = 'jpeg' | 'png' | 'webp';

export const acceptedTypes = 'JPEG, PNG or WebP';

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** @throws DomainError `unsupported_media_type` that names what is accepted */
export function imageTypeOf(file: Uint8Array): ImageType {
  const startsWith = (bytes: readonly number[], offset = 0): boolean =>
    bytes.every((byte, i) => file[offset + i] === byte);
  const ascii = (text: string): number[] => [...Buffer.from(text, 'ascii')];
  if (startsWith([0xff, 0xd8, 0xff])) return 'jpeg';
  if (startsWith(pngSignature)) return 'png';
  if (startsWith(ascii('RIFF')) && startsWith(ascii('WEBP'), 8)) return 'webp';
  throw new DomainError(
    'unsupported_media_type',
    `The file is not an image of an accepted type. Send ${acceptedTypes}.`,
  );
}
