const maxStemLength = 150;

/** Control characters, direction marks, and what file systems reserve. */
const unwanted = /[\p{Cc}\p{Bidi_Control}<>:"|?*]/gu;

/** The upload's name with the result's extension: no folders, no control or reserved characters, bounded length. */
export function outputFileName(uploadName: string, extension: string): string {
  const base = uploadName.split(/[\\/]/).at(-1) ?? '';
  const stem = Array.from(base.replace(/\.[^.]*$/, '').replace(unwanted, ''))
    .slice(0, maxStemLength)
    .join('')
    .trim()
    .replace(/^\.+/, '');
  return `${stem === '' ? 'image' : stem}.${extension}`;
}
