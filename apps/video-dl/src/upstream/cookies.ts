/** A cookie and its scope. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Begins with a dot if subdomains get it too. */
  readonly domain: string;
  readonly path: string;
  readonly secure: boolean;
}

/** The `Cookie` header for a URL; undefined when no cookie matches (RFC 6265 §5.4). */
export function cookieHeader(cookies: readonly Cookie[], url: URL): string | undefined {
  const matching = cookies.filter((cookie) => isName(cookie.name) && matches(cookie, url));
  if (matching.length === 0) return undefined;
  return matching.map(({ name, value }) => `${name}=${headerSafe(value)}`).join('; ');
}

function isName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\w]+$/.test(text);
}

function matches({ domain, path, secure }: Cookie, { hostname, pathname, protocol }: URL): boolean {
  const hostMatches = domain.startsWith('.') ? `.${hostname}`.endsWith(domain) : hostname === domain;
  const directory = path.endsWith('/') ? path : `${path}/`;
  const pathMatches = pathname === path || pathname.startsWith(directory);
  return hostMatches && pathMatches && (!secure || protocol === 'https:');
}

function headerSafe(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}
