const trailing = /(?<!\.\p{L}(?=\.))[.,;:!?'"»”’>…。，、；：！？]$/u;
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
  const [only = ''] = words;
  return bare && words.length === 1 && bareHost.test(only) ? readable(`https://${only}`) : undefined;
}

/** All distinct URLs in a text, in order. */
export function urlsIn(/** @type {string} */ text) {
  const found = text.split(/\s+/u).map((word) => urlIn(word));
  return [...new Set(found.filter((url) => url !== undefined))];
}

function readable(/** @type {string} */ url) {
  const trimmed = trimTrailing(url);
  return URL.canParse(trimmed) && new URL(trimmed).hostname !== '' ? trimmed : undefined;
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
