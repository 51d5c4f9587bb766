import { invalid } from '../formats/rejection.js';

export const maxAttributes = 64;

/**
 * The attributes of a tag, keyed by name and without quotes (RFC 8216, 4.2), in one pass.
 * @throws Rejection for an unterminated quote
 */
export function readAttributes(list: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  let at = 0;
  while (at < list.length) {
    const equals = list.indexOf('=', at);
    if (equals === -1) break;
    const name = list.slice(at, equals).trim();
    const isQuoted = list[equals + 1] === '"';
    const start = equals + (isQuoted ? 2 : 1);
    const found = list.indexOf(isQuoted ? '"' : ',', start);
    if (isQuoted && found === -1) throw invalid('sent a playlist with an unterminated quote');
    const end = found === -1 ? list.length : found;
    if (attributes.size >= maxAttributes) throw invalid('sent a playlist with too many attributes');
    attributes.set(name, list.slice(start, end).trim());
    const comma = isQuoted ? list.indexOf(',', end) : end;
    at = comma === -1 ? list.length : comma + 1;
  }
  return attributes;
}
