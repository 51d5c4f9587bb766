import { DomainError } from '@media-services/http-common';

/** The accepted types, detected by content, never by name. */
export type ImageType = 'jpeg' | 'png' | 'webp';

export const acceptedTypes = 'JPEG, PNG or WebP';

const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')];
const png = ascii('\x89PNG\r\n\x1a\n');

const heic = 'a HEIC photo (on an iPhone: Settings, Camera, Formats, Most Compatible)';
const avif = 'an AVIF image';
/**
 * Types by the brands of an ISO media file (HEIF, ISO/IEC 23008-12). `mif1` and `msf1` do not
 * identify the codec.
 */
const brands = new Map([
  ...['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis'].map((brand) => [brand, heic] as const),
  ...['avif', 'avis'].map((brand) => [brand, avif] as const),
]);
/** Real files list few brands, so we read only this much. */
const maxBrandBytes = 256;

/** Signatures of other common files, to name them in the error. */
const otherTypes: readonly { readonly name: string; readonly bytes: number[] }[] = [
  { name: 'a GIF', bytes: ascii('GIF8') },
  { name: 'a TIFF', bytes: ascii('II*\0') },
  { name: 'a TIFF', bytes: ascii('MM\0*') },
  { name: 'a BMP', bytes: ascii('BM') },
  { name: 'a PDF', bytes: ascii('%PDF') },
];
/** Bytes to search for an SVG's root element after declarations and comments. */
const svgHeadBytes = 4096;

function hasAt(file: Uint8Array, bytes: readonly number[], offset = 0): boolean {
  return bytes.every((byte, i) => file[offset + i] === byte);
}

function knownType(file: Uint8Array): ImageType | undefined {
  if (hasAt(file, [0xff, 0xd8, 0xff])) return 'jpeg';
  if (hasAt(file, png)) return 'png';
  return hasAt(file, ascii('RIFF')) && hasAt(file, ascii('WEBP'), 8) ? 'webp' : undefined;
}

/** Whether bytes begin as an image of an accepted type does. */
export function hasImageSignature(bytes: Uint8Array): boolean {
  return knownType(bytes) !== undefined;
}

/**
 * @throws DomainError `unsupported_media_type` naming the accepted types and, if known, the
 *   type that was sent
 */
export function imageTypeOf(file: Uint8Array): ImageType {
  const type = knownType(file);
  if (type !== undefined) return type;
  const other = otherTypeOf(file);
  throw new DomainError(
    'unsupported_media_type',
    other === undefined
      ? `The file is not an image of a supported type. Send ${acceptedTypes}.`
      : `The file is ${other}, which is not supported. Send ${acceptedTypes}.`,
  );
}

function otherTypeOf(file: Uint8Array): string | undefined {
  if (hasAt(file, ascii('ftyp'), 4)) return heifTypeOf(Buffer.from(file.subarray(0, maxBrandBytes)));
  const name = otherTypes.find(({ bytes }) => hasAt(file, bytes))?.name;
  if (name !== undefined) return name;
  // Trimming also removes a byte order mark.
  const head = Buffer.from(file.subarray(0, svgHeadBytes)).toString('utf8').trimStart();
  if (!head.startsWith('<')) return undefined;
  if (/<(?:!doctype html|html|head|body)[\s/>]/i.test(head)) return 'a web page';
  return /<svg[\s/>]/i.test(head) ? 'an SVG' : undefined;
}

function heifTypeOf(head: Buffer): string | undefined {
  const end = Math.min(head.length, head.readUInt32BE(0));
  // The major brand, its version, then the compatible brands.
  for (let at = 8; at + 4 <= end; at += 4) {
    const name = brands.get(head.toString('latin1', at, at + 4));
    if (name !== undefined) return name;
  }
  return ['mif1', 'msf1'].includes(head.toString('latin1', 8, 12)) ? heic : undefined;
}
