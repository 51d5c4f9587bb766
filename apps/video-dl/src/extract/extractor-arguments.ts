/** yt-dlp's extractor arguments: by extractor, by key, the values. */
export type ExtractorArguments = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/**
 * Reads what yt-dlp's `--extractor-args` takes, several of them separated by white space:
 * `youtube:player_client=tv,web;po_token=web.gvs+… generic:impersonate`.
 *
 * @throws TypeError naming what cannot be read
 */
export function parseExtractorArguments(text: string): ExtractorArguments {
  const found: Record<string, Record<string, string[]>> = {};
  for (const part of text.split(/\s+/).filter((word) => word !== '')) {
    const [, extractor, list] = /^([\w-]{1,60}):(.+)$/.exec(part) ?? [];
    if (extractor === undefined || list === undefined) {
      throw new TypeError(`"${part.slice(0, 40)}" is not of the form extractor:key=value,value;key=value`);
    }
    for (const argument of list.split(';')) {
      const [key = '', ...values] = argument.split('=');
      if (!/^[\w-]{1,60}$/.test(key)) throw new TypeError(`"${key.slice(0, 40)}" is no key of ${extractor}`);
      const name = key.toLowerCase().replaceAll('-', '_');
      (found[extractor.toLowerCase()] ??= {})[name] = splitValues(values.join('='));
    }
  }
  return found;
}

/** At commas that no backslash precedes. */
function splitValues(values: string): string[] {
  return values.split(/(?<!\\),/).map((value) => value.replaceAll('\\,', ','));
}
