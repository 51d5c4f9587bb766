const trailing = /[.,;:!?'"»”’>…。，、；：！？]$/u;
/** @type {Record<string, string>} */
const closing = { ')': '(', ']': '[', '}': '{', '）': '（', '」': '「', '】': '【', '》': '《' };
/** Matches `example.com/watch`, as people type and share it. Requires a dot, to exclude words. */
const withoutScheme = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d{1,5})?[/?#]\S*$/u;
const bareHost = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d{1,5})?\/?$/u;

/**
 * The first URL in a text: the text itself, with or without `https://`, or one
 * inside a sentence ("Look at this! https://…").
 * `bare`: a host name alone counts too, as in a field for links
 * @param {string} text @param {{ bare?: boolean }} options
 * @returns undefined without a link
 */
export function urlIn(text, { bare = false } = {}) {
  const urls = urlsIn(text);
  const only = text.trim();
  // Words such as `v2.0/final` look like a URL without its scheme.
  const url = urls.find((found) => text.includes(found)) ?? urls[0];
  return url ?? (bare && bareHost.test(only) ? readable(`https://${only}`) : undefined);
}

/** All distinct URLs in a text, in order. A URL without other words is kept exactly. */
export function urlsIn(/** @type {string} */ text) {
  const words = text.trim().split(/\s+/u);
  const isAlone = words.length === 1 && /^https?:/i.test(words[0] ?? '');
  const found = isAlone ? words.map(readable) : words.map(urlInWord);
  return [...new Set(found.filter((url) => url !== undefined))];
}

function urlInWord(/** @type {string} */ word) {
  const start = word.search(/(?<!blob:)https?:\/\//i);
  const found = start === -1 ? undefined : readable(trimTrailing(word.slice(start)));
  if (found) return found;
  const plain = trimTrailing(word.replace(/^[(["'«“‘<]+/, ''));
  return withoutScheme.test(plain) ? readable(`https://${plain}`) : undefined;
}

function readable(/** @type {string} */ url) {
  return URL.canParse(url) && new URL(url).hostname !== '' ? url : undefined;
}

/** Removes trailing punctuation. Keeps a closing bracket that is opened in the URL. */
function trimTrailing(/** @type {string} */ word) {
  let url = word;
  for (;;) {
    const before = url;
    url = url.replace(trailing, '');
    const last = url.at(-1) ?? '';
    const opening = closing[last];
    if (opening && count(url, last) > count(url, opening)) url = url.slice(0, -1);
    if (url === before) return url;
  }
}

function count(/** @type {string} */ text, /** @type {string} */ character) {
  return text.split(character).length - 1;
}
