import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentedErrors } from '../src/errors/documented-errors.js';

type Entry = string | [title: string, detail: string] | Record<string, string>;
type Texts = Record<string, Entry>;

const html = fileURLToPath(new URL('../html', import.meta.url));
const read = (path: string) => readFileSync(join(html, path), 'utf8');
const languages = readdirSync(join(html, 'texts')).map((name) => name.replace('.json', ''));
const tables = new Map(languages.map((name) => [name, JSON.parse(read(`texts/${name}.json`)) as Texts]));
const english = tables.get('en') ?? {};
const others = languages.filter((language) => language !== 'en');

const forms = (entry: Entry | undefined): string[] =>
  typeof entry === 'string' ? [entry] : Object.values(entry ?? {});
const placeholders = (entry: Entry | undefined) =>
  [...new Set(forms(entry).flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();
const bars = (entry: Entry | undefined) => forms(entry).join('').split('|').length - 1;

/** The page's own modules; the API's documentation is English. */
const modules = readdirSync(join(html, 'js'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.js') && !name.startsWith('docs/'))
  .map((name) => read(`js/${name}`));
const page = read('index.html');

/** Text keys that the page uses, and the prefixes of those it composes. */
function usedTextKeys(): { keys: Set<string>; beginnings: string[] } {
  const code = modules.join('\n');
  const inPage = page.matchAll(/data-(?:text|label|hint|alternative|content)="([\w.]+)"/g);
  const inCode = code.matchAll(/'([a-z]+\.(?!jpg|png|zip|mp3|mp4)\w+)'/g);
  const failures = code.matchAll(/errorText(?:Of)?\('(\w+)'/g);
  const keys = [...inPage, ...inCode].map(([, key]) => key ?? '');
  return {
    keys: new Set([...keys, ...[...failures].map(([, code]) => `error.${code ?? ''}`)]),
    beginnings: [...code.matchAll(/text\(`([a-z]+\.)\$\{/g)].map(([, beginning]) => beginning ?? ''),
  };
}

it('the page offers its texts in eight languages', () => {
  expect(languages).toEqual(['ar', 'de', 'en', 'es', 'fr', 'ja', 'pt', 'zh']);
  const offered = [...page.matchAll(/<option value="(\w+)" lang=/g)].map(([, language]) => language);
  expect(offered.sort()).toEqual(languages);
  for (const language of languages) expect(read('js/choose-language.js')).toContain(`${language}: '`);
});

describe.each(others)('the texts in %s', (language) => {
  const texts = tables.get(language) ?? {};

  it('have keys and placeholders of the English ones', () => {
    expect(Object.keys(texts).filter((key) => !(key in english))).toEqual([]);
    for (const key of Object.keys(texts)) {
      const entry = english[key];
      const shape = (each: Entry | undefined) => ({
        key,
        placeholders: placeholders(each),
        bars: bars(each),
        isPair: Array.isArray(each),
      });
      expect(shape(texts[key])).toEqual(shape(entry));
      for (const text of forms(texts[key])) expect(text.trim()).not.toBe('');
    }
  });

  it('are translated, except for names', () => {
    const same = Object.keys(english).filter(
      (key) => JSON.stringify(texts[key]) === JSON.stringify(english[key]),
    );
    // Exceptions: `API`, `MP3`, `{name}: {value}`, and words that both languages share.
    for (const key of same) expect(forms(texts[key]).join(' ').length).toBeLessThan(20);
    expect(same.length).toBeLessThan(25);
  });

  it('have every plural form of the language', () => {
    // The form for whole millions is never needed.
    const large = new Set(['es', 'fr', 'pt']);
    const needed = new Intl.PluralRules(language)
      .resolvedOptions()
      .pluralCategories.filter((form) => form !== 'many' || !large.has(language))
      .sort();
    for (const [key, entry] of Object.entries(texts)) {
      if (typeof entry === 'string' || Array.isArray(entry)) continue;
      expect({ key, forms: Object.keys(entry).sort() }).toEqual({ key, forms: needed });
    }
  });
});

it('long words can be divided on a narrow phone with large text', () => {
  const tooLong = [...tables.values()].flatMap((texts) =>
    Object.values(texts)
      .flatMap(forms)
      // Japanese and Chinese break between any two characters.
      .flatMap((text) => text.match(/[\p{Script=Latin}\p{Script=Arabic}]{14,}/gu) ?? []),
  );
  expect(tooLong).toEqual([]);
});

it('every text that the page uses exists, and every text is used', () => {
  const { keys, beginnings } = usedTextKeys();
  expect(beginnings).toEqual(['state.']);
  expect([...keys].filter((key) => !(key in english))).toEqual([]);
  const codes = new Set(documentedErrors().map(({ code }) => `error.${code}`));
  const unused = Object.keys(english).filter(
    (key) => !keys.has(key) && !codes.has(key) && !beginnings.some((beginning) => key.startsWith(beginning)),
  );
  expect(unused).toEqual([]);
});

it('every error code of both services and the gateway is explained', () => {
  const codes = documentedErrors().map(({ code }) => code);
  expect(codes.length).toBeGreaterThan(35);
  expect(codes.filter((code) => !Array.isArray(english[`error.${code}`]))).toEqual([]);
});

it('no text has a setting’s name, an HTTP word or a code’s quotes in it', () => {
  for (const texts of tables.values()) {
    const words = Object.values(texts).flatMap(forms).join('\n');
    expect(words).not.toMatch(/`|\bHTTP\b|[A-Z]{3,}_[A-Z]|URL-encoded/);
  }
});
