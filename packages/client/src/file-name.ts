/** Characters that some file system gives a meaning to. */
// eslint-disable-next-line no-control-regex -- control characters are among them
const unsafe = /[\u0000-\u001f\u007f<>:"/\\|?*]/g;
const maxCharacters = 200;

/**
 * The file name in a `Content-Disposition` header (RFC 6266): the extended one
 * before the plain one, without anything that could lead out of a folder.
 */
export function fileNameOf(contentDisposition: string | null): string | undefined {
  if (contentDisposition === null) return undefined;
  const extended = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(contentDisposition)?.[1];
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(contentDisposition);
  const name = decoded(extended) ?? plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2];
  return name === undefined ? undefined : safeFileName(name);
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded UTF-8: the plain name is the fallback that RFC 6266 has for this.
    return undefined;
  }
}

function safeFileName(name: string): string | undefined {
  const safe = name.replace(unsafe, '_').replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '');
  if (safe === '') return undefined;
  const dot = safe.lastIndexOf('.');
  const extension = dot > 0 ? safe.slice(dot) : '';
  return safe.slice(0, maxCharacters - extension.length).slice(0, safe.length - extension.length) + extension;
}
