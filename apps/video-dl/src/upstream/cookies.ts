/** A cookie and its scope. */
interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Without leading dot. */
  domain: string;
  includesSubdomains: boolean;
  path: string;
  secure: boolean;
}

const attributes = /^(?:domain|path|secure|expires|version|max-age|httponly|samesite)$/;

/** More than any real site sets. We ignore cookie strings longer than this. */
const maxCharacters = 65_536;

/** The cookies of a source, each sent only within its scope. */
export class SourceCookies {
  readonly #cookies: readonly Cookie[];

  /**
   * @param text `a=1; Domain=.x.org; Path=/; Secure; b=2; …` as yt-dlp writes it, or a plain `Cookie` header
   * @param sourceUrl cookies without a Domain belong to its host
   */
  constructor(text: string, sourceUrl: string) {
    this.#cookies = text.length > maxCharacters ? [] : parse(text, new URL(sourceUrl).hostname);
  }

  /** The `Cookie` header for a URL; undefined when no cookie matches (RFC 6265 §5.4). */
  headerFor(url: URL): string | undefined {
    const matching = this.#cookies.filter((cookie) => matches(cookie, url));
    return matching.length === 0
      ? undefined
      : matching.map(({ name, value }) => `${name}=${value}`).join('; ');
  }
}

function parse(text: string, sourceHost: string): Cookie[] {
  const cookies: Cookie[] = [];
  for (const part of splitOutsideQuotes(text)) {
    const [name, value] = pairOf(part);
    const attribute = name.toLowerCase();
    const last = cookies.at(-1);
    if (last === undefined || !attributes.test(attribute)) {
      const scope = { domain: sourceHost, includesSubdomains: false, path: '/', secure: false };
      if (isName(name)) cookies.push({ name, value: headerSafe(unquote(value)), ...scope });
    } else if (attribute === 'domain') {
      last.domain = value.replace(/^\./, '').toLowerCase();
      last.includesSubdomains = value.startsWith('.');
    } else if (attribute === 'path') {
      last.path = value.startsWith('/') ? value : '/';
    } else if (attribute === 'secure') {
      last.secure = true;
    }
  }
  return cookies;
}

/** The value is empty without an equals sign. */
function pairOf(text: string): readonly [name: string, value: string] {
  const equals = text.indexOf('=');
  return equals === -1 ? [text.trim(), ''] : [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
}

function isName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\w]+$/.test(text);
}

function matches({ domain, includesSubdomains, path, secure }: Cookie, url: URL): boolean {
  const hostMatches = url.hostname === domain || (includesSubdomains && url.hostname.endsWith(`.${domain}`));
  const directory = path.endsWith('/') ? path : `${path}/`;
  const pathMatches = url.pathname === path || url.pathname.startsWith(directory);
  return hostMatches && pathMatches && (!secure || url.protocol === 'https:');
}

/** Python's SimpleCookie quotes values that contain `;` or other special characters. */
function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\\' && isQuoted) at += 1;
    else if (character === ';' && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unquote(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value;
  return value
    .slice(1, -1)
    .replaceAll(/\\([0-3][0-7]{2})|\\(.)/gs, (_all, octal: string | undefined, plain: string | undefined) =>
      octal === undefined ? (plain ?? '') : String.fromCharCode(Number.parseInt(octal, 8)),
    );
}

function headerSafe(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}
