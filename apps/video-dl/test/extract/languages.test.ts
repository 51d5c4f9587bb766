import { inLanguage, isLanguage, languageName } from '../../src/extract/languages.js';

const entries = (...languages: string[]) => languages.map((language) => ({ language }));

it.each([
  ['de', ['en', 'de-AT', 'de'], 'de'],
  ['de', ['en', 'de-AT'], 'de-AT'],
  ['de', ['deu'], 'deu'],
  ['ger', ['de'], 'de'],
  ['en-US', ['en_US'], 'en_US'],
  ['en-US', ['en'], 'en'],
  ['PT-br', ['pt', 'pt-BR'], 'pt-BR'],
  ['zh-CN', ['zh-Hant', 'zh-Hans'], 'zh-Hans'],
  ['zh-TW', ['zh-Hans', 'zh-Hant'], 'zh-Hant'],
  ['he', ['iw'], 'iw'],
  ['en', ['en-desc', 'en'], 'en'],
  ['en-desc', ['en', 'en-desc'], 'en-desc'],
])('%s in %j is %s', (wanted, languages, expected) => {
  expect(inLanguage(wanted, entries(...languages))?.language).toBe(expected);
});

it.each([
  ['de-AT', ['de']],
  ['de', ['den', 'en']],
  ['pt-BR', ['pt-PT']],
  ['en', ['en-desc']],
  ['de', ['not a language', '']],
])('%s is not in %j', (wanted, languages) => {
  expect(inLanguage(wanted, entries(...languages))).toBeUndefined();
});

it.each(['de', 'pt-BR', 'zh-Hans', 'en-desc', 'original', 'es-419'])('%s is a language', (text) => {
  expect(isLanguage(text)).toBe(true);
});

it.each(['', '-', 'de-', 'a b', '-desc', 'ü'])('%j is no language', (text) => {
  expect(isLanguage(text)).toBe(false);
});

it('names languages in English, and unknown ones by their code', () => {
  expect(['de-AT', 'en-desc', 'xx-lol', 'not a language'].map(languageName)).toEqual([
    'Austrian German',
    'English (audio description)',
    'xx-lol',
    'not a language',
  ]);
});
