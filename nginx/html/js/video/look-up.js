import { withAccessKey } from '../access-key.js';
import { ensureSuccess } from '../problem.js';

const trailing = /[.,;:!?'"»”’>]{1,20}$/;
const closing = { ')': '(', ']': '[', '}': '{' };
/** Matches `example.com/watch`, as people type and share it. Requires a dot, to exclude words. */
const withoutScheme = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d{1,5})?[/?#]\S*$/u;
const bareHost = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d{1,5})?\/?$/u;

/**
 * The first URL in a text: the text itself, with or without `https://`, or one
 * inside a sentence ("Look at this! https://…").
 * @param options `bare`: a host name alone counts too, as in a field for links
 * @returns undefined without a link
 */
export function urlIn(text, { bare = false } = {}) {
  const words = text.trim().split(/\s+/u);
  for (const word of words) {
    const start = word.search(/(?<!blob:)https?:\/\//i);
    const found = start === -1 ? undefined : readable(word.slice(start));
    if (found) return found;
  }
  for (const word of words) {
    const plain = trimTrailing(word.replace(/^[(["'«“‘<]+/, ''));
    if (withoutScheme.test(plain)) return readable(`https://${plain}`);
  }
  return bare && words.length === 1 && bareHost.test(words[0]) ? readable(`https://${words[0]}`) : undefined;
}

/** All distinct URLs in a text, in order. */
export function urlsIn(text) {
  const found = text.split(/\s+/u).map((word) => urlIn(word));
  return [...new Set(found.filter(Boolean))];
}

function readable(url) {
  const trimmed = trimTrailing(url);
  return URL.canParse(trimmed) && new URL(trimmed).hostname !== '' ? trimmed : undefined;
}

/** Removes trailing punctuation. Keeps a closing bracket that is opened in the URL. */
function trimTrailing(word) {
  let url = word;
  for (;;) {
    const before = url;
    url = url.replace(trailing, '');
    const last = url.at(-1);
    if (last in closing && count(url, last) > count(url, closing[last])) url = url.slice(0, -1);
    if (url === before) return url;
  }
}

function count(text, character) {
  return text.split(character).length - 1;
}

/** Whether the service may look up a page on this host: it never connects to private networks. */
export function isPublicHost(host) {
  const isPrivate =
    /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[)|\.(local|lan|internal|localhost|home\.arpa)$/i;
  return host.includes('.') && !isPrivate.test(host);
}

/**
 * Fetches `/api/info` for a page.
 * @param part `item`: number of the video on a page with several, from 1; `start` and `end` of
 *   a clip, in seconds
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
export async function lookUp(url, signal, part = {}) {
  const options = { headers: withAccessKey(), signal };
  const response = await ensureSuccess(await fetch(`api/info?${pageQuery(url, part)}`, options));
  return response.json();
}

/** The query for a URL and a part of it, without undefined values. */
export function pageQuery(url, part) {
  const given = Object.entries(part).filter(([, value]) => value !== undefined);
  return new URLSearchParams([['url', url], ...given]);
}
