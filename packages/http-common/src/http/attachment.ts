import createHeader from 'content-disposition';

const plainId = /^[\w-][\w.-]{0,63}$/;

/**
 * `Content-Disposition` of a download (RFC 6266): an ASCII fallback, plus the UTF-8 name (RFC 8187) if it differs.
 * @param options `id` names the file for clients that read only the fallback, if the name has no Latin
 *   letter or digit; `isInline` lets a browser show the file instead of saving it
 */
export function contentDisposition(
  fileName: string,
  { id = 'download', isInline = false }: { id?: string | undefined; isInline?: boolean | undefined } = {},
): string {
  // Half a surrogate pair has no UTF-8 form.
  const name = fileName.replace(/\p{Cs}/gu, '_');
  return createHeader(name, { type: isInline ? 'inline' : 'attachment', fallback: asciiName(name, id) });
}

function asciiName(name: string, id: string): string {
  const extension = /\.[a-z0-9]+$/iu.exec(name)?.[0] ?? '';
  const stem = name
    .slice(0, name.length - extension.length)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]+/gu, '_')
    // Some browsers percent-decode the plain parameter.
    .replace(/[%"\\/]/gu, '_');
  const hasWord = /[a-z0-9]/iu.test(stem);
  return `${hasWord ? stem : plainId.test(id) ? id : 'download'}${extension}`;
}

const maxNameBytes = 180;

/** Invisible characters. The group captures joiners inside emoji, which are kept. */
const invisible =
  /((?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic}))|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\ufffd]+/gu;

// Windows rejects these with any extension, which starts at the first dot.
const reservedNames = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])(?=\.|$)/iu;

/**
 * A file name from any text that every file system accepts: no path separators, no
 * control, invisible or direction-changing characters, none that Windows rejects, and
 * at most 180 bytes of UTF-8 without splitting a character.
 *
 * @param extension without the dot.
 */
export function fileName(text: string, extension: string): string {
  const clean = text
    .normalize('NFC')
    .replace(/[/\\:*?"<>|]+/gu, '_')
    .replace(invisible, (_match, joiner: string | undefined) => joiner ?? ' ')
    .replace(/\s+/gu, ' ')
    .replace(/^[\s.]+/u, '');
  const stem = cutToBytes(clean, maxNameBytes).replace(/(?<![\s.])[\s.]+$/u, '');
  if (stem === '') return `download.${extension}`;
  return `${reservedNames.test(stem) ? `_${stem}` : stem}.${extension}`;
}

/** Cuts between grapheme clusters. */
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
