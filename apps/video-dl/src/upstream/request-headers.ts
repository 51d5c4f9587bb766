import type { SourceCookies } from './cookies.js';

/** Headers that the relay sets itself, and hop-by-hop headers. */
const ownHeader =
  /^(?:accept-encoding|connection|content-length|cookie|expect|host|if-range|keep-alive|proxy-.*|range|te|trailer|transfer-encoding|upgrade)$/;

interface HeaderInput {
  readonly url: URL;
  /** The URL before redirects. Credentials are never sent to another origin. */
  readonly sourceUrl: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: SourceCookies | undefined;
}

/** The headers the extractor asked for, plus the cookies for `url`. */
export function requestHeaders({ url, sourceUrl, headers, cookies }: HeaderInput): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => {
    const lower = name.toLowerCase();
    if (
      ownHeader.test(lower) ||
      !/^[\w!#$%&'*+.^`|~-]+$/.test(name) ||
      /[^\t\x20-\x7e\x80-\xff]/.test(value)
    ) {
      return false;
    }
    return lower !== 'authorization' || url.origin === sourceUrl.origin;
  });
  const cookie = cookies?.headerFor(url);
  // Lengths and offsets must count the bytes of the file, not of a compressed form.
  return {
    ...Object.fromEntries(kept),
    'accept-encoding': 'identity',
    ...(cookie !== undefined && { cookie }),
  };
}
