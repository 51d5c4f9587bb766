const attribute = /([A-Z0-9-]+)=("[^"]*"|[^,]*)/g;

/** An HLS attribute list (RFC 8216 §4.2) with only the attributes that `isKept` names. */
export function filterAttributes(list: string, isKept: (name: string) => boolean): string {
  const all = [...list.matchAll(attribute)];
  return all
    .filter(([, name = '']) => isKept(name))
    .map(([whole]) => whole)
    .join(',');
}

/** The attributes of a tag by name, without quotes. */
export function readAttributes(list: string): Map<string, string> {
  return new Map(
    [...list.matchAll(attribute)].map(([, name = '', value = '']) => [name, value.replace(/^"|"$/g, '')]),
  );
}
