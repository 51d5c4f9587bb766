import contentDisposition from 'content-disposition';

/** `Content-Disposition` of a download (RFC 6266): an ASCII fallback, plus the UTF-8 name (RFC 8187) if it differs. */
export function attachment(fileName: string): string {
  // Half a surrogate pair has no UTF-8 form.
  const name = fileName.replace(/\p{Cs}/gu, '_');
  return contentDisposition(name, { type: 'attachment', fallback: asciiName(name) });
}

function asciiName(name: string): string {
  const extension = /\.[a-z0-9]+$/iu.exec(name)?.[0] ?? '';
  const stem = name
    .slice(0, name.length - extension.length)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]+/gu, '_')
    // Some browsers percent-decode the plain parameter.
    .replace(/[%"\\/]/gu, '_');
  return `${/[a-z0-9]/iu.test(stem) ? stem : 'download'}${extension}`;
}
