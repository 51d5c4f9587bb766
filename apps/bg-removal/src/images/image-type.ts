import { DomainError } from '@media-services/http-common';

/** What is accepted, decided by the content and never by the name. */
export type ImageType = 'jpeg' | 'png' | 'webp';

export const acceptedTypes = 'JPEG, PNG or WebP';

const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')];
const png = ascii('\x89PNG\r\n\x1a\n');

/** Beginnings of what people send instead, to name it in the answer. */
const otherTypes: readonly { readonly name: string; readonly offset: number; readonly bytes: number[] }[] = [
  ...['heic', 'heix', 'hevc', 'heim', 'heis', 'mif1', 'msf1'].map((brand) => ({
    name: 'a HEIC photo (on an iPhone: Settings, Camera, Formats, Most Compatible)',
    offset: 4,
    bytes: ascii(`ftyp${brand}`),
  })),
  ...['avif', 'avis'].map((brand) => ({ name: 'an AVIF image', offset: 4, bytes: ascii(`ftyp${brand}`) })),
  { name: 'a GIF', offset: 0, bytes: ascii('GIF8') },
  { name: 'a TIFF', offset: 0, bytes: ascii('II*\0') },
  { name: 'a TIFF', offset: 0, bytes: ascii('MM\0*') },
  { name: 'a BMP', offset: 0, bytes: ascii('BM') },
  { name: 'a PDF', offset: 0, bytes: ascii('%PDF') },
  { name: 'an SVG', offset: 0, bytes: ascii('<svg') },
];

function hasAt(file: Uint8Array, bytes: readonly number[], offset = 0): boolean {
  return bytes.every((byte, i) => file[offset + i] === byte);
}

/** @throws DomainError `unsupported_media_type` that names what is accepted, and what was sent where that is known */
export function imageTypeOf(file: Uint8Array): ImageType {
  if (hasAt(file, [0xff, 0xd8, 0xff])) return 'jpeg';
  if (hasAt(file, png)) return 'png';
  if (hasAt(file, ascii('RIFF')) && hasAt(file, ascii('WEBP'), 8)) return 'webp';
  const other = otherTypes.find(({ bytes, offset }) => hasAt(file, bytes, offset))?.name;
  throw new DomainError(
    'unsupported_media_type',
    other === undefined
      ? `The file is not an image of an accepted type. Send ${acceptedTypes}.`
      : `The file is ${other}, which is not accepted. Send ${acceptedTypes}.`,
  );
}
