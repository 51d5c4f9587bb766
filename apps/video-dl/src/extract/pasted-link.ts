/** What people's clipboards hold around a link: marks of direction and width, byte order marks, soft hyphens. */
const invisibleMarks = /(?!\u200c|\u200d|[\u{e0020}-\u{e007f}])\p{Cf}/gu;
/** Up to what can't be in a link, such as a space, a quote or Chinese punctuation. */
const links = /(?<![\p{L}\p{N}])https?:\/\/[^\s<>"'`“”‘’«»（），。、！？；：【】「」《》]+/giu;
const trailingPunctuation = '.,;:!?*~…。，、；：！？';
const brackets = ['()', '[]', '{}', '（）', '「」', '【】', '《》'];

/**
 * Finds the links in a text that a person pasted: a link alone, or with a title, a line break, brackets
 * or invisible marks around it. Takes linear time.
 * @returns the text without invisible marks and the space around it; every different http(s) link, in order
 */
export function readPastedText(pasted: string): { text: string; links: string[] } {
  const text = pasted.replace(invisibleMarks, '').trim();
  // A program sends a link exactly, and some end in a full stop or an exclamation mark.
  if (/^https?:\/\/\S*$/i.test(text)) return { text, links: [text] };
  const found = [...text.matchAll(links)].map(([link]) => withoutTrailingText(link));
  return { text, links: [...new Set(found)] };
}

/** A sentence's full stop, or a closing bracket that the link doesn't open, isn't part of it. */
function withoutTrailingText(link: string): string {
  const count = (character = '') => link.split(character).length - 1;
  const unopened = new Map(brackets.map(([opening, closing]) => [closing, count(closing) - count(opening)]));
  let end = link.length;
  for (; end > 0; end -= 1) {
    const last = link.charAt(end - 1);
    const closed = unopened.get(last);
    const isPart = closed === undefined ? !trailingPunctuation.includes(last) : closed <= 0;
    if (isPart) break;
    if (closed !== undefined) unopened.set(last, closed - 1);
  }
  return link.slice(0, end);
}
