import { DomainError } from '@media-services/http-common';
import type { AudioLanguage, Extraction } from './types.js';

/** What clients send for the audio that they get without `lang`. */
const originalLanguage = 'original';

const description = '-desc';
const englishNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** Whether audio in this language describes the video. */
export function isDescription(language: string): boolean {
  return language.endsWith(description);
}

/** The English name of a language; its code if it has none. */
export function languageName(language: string): string {
  const plain = withoutSuffix(language);
  const name = (isTag(plain) && englishNames.of(plain)) || plain;
  return isDescription(language) ? `${name} (audio description)` : name;
}

/** Whether a text may be a language that a client requests. */
export function isLanguage(text: string): boolean {
  return text === originalLanguage || isTag(withoutSuffix(text));
}

/**
 * The entry in a requested language: `de` also finds `deu` and `de-AT`, and `zh-CN` finds `zh-Hans`. Audio
 * descriptions are found only by their own `de-desc`.
 */
export function inLanguage<Entry extends { readonly language: string }>(
  wanted: string,
  entries: readonly Entry[],
): Entry | undefined {
  const describes = isDescription(wanted);
  const candidates = entries.filter(({ language }) => isDescription(language) === describes);
  const tagOf = ({ language }: Entry) => canonical(withoutSuffix(language));
  const tag = canonical(withoutSuffix(wanted));
  return (
    candidates.find((entry) => tagOf(entry) === tag) ??
    candidates.find((entry) => tagOf(entry).startsWith(`${tag}-`)) ??
    candidates.find((entry) => maximal(tagOf(entry)) === maximal(tag))
  );
}

/**
 * The extraction with the selections of a language.
 * @throws DomainError `no_media` if the page has no audio in it
 */
export function spokenIn(extraction: Extraction, wanted: string): Extraction {
  const { audioLanguages } = extraction;
  // Decides between two that match, such as en-US and en-GB.
  const originalFirst = audioLanguages.toSorted((a, b) => Number(b.isOriginal) - Number(a.isOriginal));
  const found = wanted === originalLanguage ? extraction : inLanguage(wanted, originalFirst);
  if (found === undefined) throw notThere('audio', wanted, audioLanguages, "the page's own audio");
  return { ...extraction, selections: found.selections };
}

/** @param otherwise what a request without the parameter gets */
export function notThere(
  what: string,
  wanted: string,
  entries: readonly Pick<AudioLanguage, 'language'>[],
  otherwise: string,
): DomainError {
  const list = entries.map(({ language }) => language).join(', ');
  const there = list === '' ? 'It states no languages.' : `It has: ${list}.`;
  return new DomainError(
    'no_media',
    `This page has no ${what} in the language ${wanted}. ${there} Omit the parameter to get ${otherwise}.`,
  );
}

function withoutSuffix(language: string): string {
  return isDescription(language) ? language.slice(0, -description.length) : language;
}

function isTag(text: string): boolean {
  return canonical(text) !== '';
}

/** Empty if it is no language tag (BCP 47). Three letters become two: `deu` and `ger` are `de`. */
function canonical(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll('_', '-'))[0] ?? '';
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
}

/** With the script and the region that are usual: `zh-CN` and `zh-Hans` are both `zh-Hans-CN`. */
function maximal(tag: string): string {
  return tag === '' ? '' : new Intl.Locale(tag).maximize().toString();
}
