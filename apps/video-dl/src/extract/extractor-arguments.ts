/** yt-dlp's extractor arguments: values keyed by extractor and argument. */
export type ExtractorArguments = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/**
 * Parses the syntax of yt-dlp's `--extractor-args`, with several separated by whitespace:
 * `youtube:player_client=tv,web;po_token=web.gvs+… generic:impersonate`.
 *
 * @throws TypeError naming the invalid part
 */
export function parseExtractorArguments(text: string): ExtractorArguments {
  const found: Record<string, Record<string, string[]>> = {};
  for (const part of text.split(/\s+/).filter((word) => word !== '')) {
    const [, extractor, list] = /^([\w-]{1,60}):(.+)$/.exec(part) ?? [];
    if (extractor === undefined || list === undefined) {
      throw new TypeError(`"${part.slice(0, 40)}" doesn't have the form extractor:key=value,value;key=value`);
    }
    for (const argument of list.split(';')) {
      const [key = '', ...values] = argument.split('=');
      if (!/^[\w-]{1,60}$/.test(key))
        throw new TypeError(`"${key.slice(0, 40)}" is not a valid key for ${extractor}`);
      const name = key.toLowerCase().replaceAll('-', '_');
      (found[extractor.toLowerCase()] ??= {})[name] = splitValues(values.join('='));
    }
  }
  return found;
}

/** Splits at commas not preceded by a backslash. */
function splitValues(values: string): string[] {
  return values.split(/(?<!\\),/).map((value) => value.replaceAll('\\,', ','));
}
