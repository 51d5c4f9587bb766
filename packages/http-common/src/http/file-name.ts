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
