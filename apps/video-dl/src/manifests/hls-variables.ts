import { z } from 'zod';
import { notJoinable } from '../formats/rejection.js';
import { maxUrlLength } from './segment-table.js';

const maxVariables = 100;
const maxVariableNameLength = 64;
const maxVariableLength = maxUrlLength;

/** Names with their values. */
export const variablesSchema = z
  .array(z.tuple([z.string().max(maxVariableNameLength), z.string().max(maxVariableLength)]).readonly())
  .max(maxVariables)
  .readonly();
export type Variables = z.output<typeof variablesSchema>;

/** Total of the values that references are replaced by, about what a long playlist has in URLs. */
const maxExpandedCharacters = 32 * 1024 ** 2;

const references = new RegExp(`\\{\\$([\\w-]{1,${maxVariableNameLength}})\\}`, 'g');
const namePattern = new RegExp(`^[\\w-]{1,${maxVariableNameLength}}$`);

/** Whether a URL has references that yt-dlp, which doesn't know variables, left in it. */
export function hasReferences(url: string): boolean {
  return url.search(references) !== -1;
}

/**
 * The variables of a playlist (RFC 8216bis, 4.3 and 4.4.2.3). A value is inserted as it is, so
 * what it contains is never expanded again.
 */
export class PlaylistVariables {
  readonly #playlistUrl: string;
  readonly #imports: ReadonlyMap<string, string>;
  readonly #values = new Map<string, string>();
  #charactersLeft = maxExpandedCharacters;

  constructor(playlistUrl: string, imports: Variables) {
    this.#playlistUrl = playlistUrl;
    this.#imports = new Map(imports);
  }

  get all(): Variables {
    return [...this.#values];
  }

  /** @param attributes of an `EXT-X-DEFINE`, not expanded. @throws Rejection `no_media` */
  define(attributes: ReadonlyMap<string, string>): void {
    const [name, value] = this.#definition(attributes);
    if (!namePattern.test(name) || this.#values.has(name))
      throw notJoinable('defines a variable of its playlist wrongly');
    if (value === undefined) throw undefinedVariable(name);
    if (value.length > maxVariableLength || this.#values.size >= maxVariables)
      throw notJoinable('has too many or too long variables in its playlist');
    this.#values.set(name, value);
  }

  /** Replaces references by their values. @throws Rejection `no_media` */
  expand(text: string): string {
    if (!text.includes('{$')) return text;
    return text.replaceAll(references, (_reference, name: string) => {
      const value = this.#values.get(name);
      if (value === undefined) throw undefinedVariable(name);
      this.#charactersLeft -= value.length;
      if (this.#charactersLeft < 0) throw notJoinable('has too many variables in its URLs');
      return value;
    });
  }

  #definition(attributes: ReadonlyMap<string, string>): [name: string, value: string | undefined] {
    const own = attributes.get('NAME');
    if (own !== undefined) return [own, attributes.get('VALUE')];
    const imported = attributes.get('IMPORT');
    if (imported !== undefined) return [imported, this.#imports.get(imported)];
    const parameter = attributes.get('QUERYPARAM') ?? '';
    return [parameter, queryParameter(this.#playlistUrl, parameter)];
  }
}

/** A percent-decoded parameter. A plus sign is no space here, and tokens contain it. */
function queryParameter(url: string, name: string): string | undefined {
  const { search } = new URL(url);
  const pair = search
    .slice(1)
    .split('&')
    .find((each) => each.startsWith(`${name}=`));
  try {
    return pair === undefined ? undefined : decodeURIComponent(pair.slice(name.length + 1));
  } catch {
    return undefined;
  }
}

function undefinedVariable(name: string) {
  return notJoinable(`has a playlist that uses the variable ${name}, which nothing defines`);
}
