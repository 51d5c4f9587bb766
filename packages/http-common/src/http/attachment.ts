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
