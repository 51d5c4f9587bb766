/**
 * Rewrites attributes of an HLS tag (RFC 8216 §4.2).
 * @param change gets an attribute's name and value without quotes; a string replaces the value and is quoted, null drops the attribute
 */
export function mapAttributes(
  list: string,
  change: (name: string, value: string) => string | null | undefined,
): string {
  const kept: string[] = [];
  for (const [whole, name = '', value = ''] of list.matchAll(attribute)) {
    const changed = change(name, value.replace(/^"|"$/g, ''));
    if (changed === undefined) kept.push(whole);
    else if (changed !== null) kept.push(`${name}="${changed}"`);
  }
  return kept.join(',');
}

/** The attributes of a tag by name, without quotes. */
export function readAttributes(list: string): Map<string, string> {
  return new Map(
    [...list.matchAll(attribute)].map(([, name = '', value = '']) => [name, value.replace(/^"|"$/g, '')]),
  );
}

const attribute = /([A-Z0-9-]+)=("[^"]*"|[^,]*)/g;
