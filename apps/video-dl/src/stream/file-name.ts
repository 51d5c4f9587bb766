import contentDisposition from 'content-disposition';

const maxNameBytes = 180;

/** Invisible characters; the joiner inside an emoji such as a family is caught in a group, to be kept. */
const invisible =
  /((?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic}))|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\ufffd]+/gu;

// Windows refuses these whatever the extension.
const reservedNames = /^(?:con|prn|aux|nul|com\d|lpt\d)$/iu;

/**
 * A file name that file systems take, from a title: no path separators, no
 * control, invisible or direction-changing characters, none that Windows
 * refuses, at most 180 bytes of UTF-8 and not cut inside a character.
 *
 * @param extension without the dot.
 */
export function fileName(title: string, extension: string): string {
  const clean = title
    .normalize('NFC')
    .replace(/[/\\:*?"<>|]+/gu, '_')
    .replace(invisible, (_match, joiner: string | undefined) => joiner ?? ' ')
    .replace(/\s+/gu, ' ')
    .replace(/^[\s.]+/u, '');
  const stem = cutToBytes(clean, maxNameBytes).replace(/(?<![\s.])[\s.]+$/u, '');
  if (stem === '') return `download.${extension}`;
  return `${reservedNames.test(stem) ? `_${stem}` : stem}.${extension}`;
}

/** `Content-Disposition` of a download (RFC 6266): an ASCII fallback, and the UTF-8 name (RFC 8187) where it differs. */
export function attachment(title: string, extension: string): string {
  const name = fileName(title, extension);
  return contentDisposition(name, { type: 'attachment', fallback: asciiName(name, extension) });
}

function asciiName(name: string, extension: string): string {
  const stem = name
    .slice(0, -extension.length - 1)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]+/gu, '_')
    // A percent sign followed by digits is decoded by some browsers in the plain parameter.
    .replace(/[%"\\/]/gu, '_');
  return /[a-z0-9]/iu.test(stem) ? `${stem}.${extension}` : `download.${extension}`;
}

/** Cuts between characters as readers see them (grapheme clusters). */
function cutToBytes(text: string, maxBytes: number): string {
  let size = 0;
  let end = 0;
  for (const { segment, index } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    size += Buffer.byteLength(segment);
    if (size > maxBytes) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}
