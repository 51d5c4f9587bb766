import { findAll, make } from '../dom.js';
import { Stored } from '../stored.js';
import { locale, text } from '../texts.js';

/** @typedef {import('./look-up.js').Info} Info */
/** @typedef {import('./look-up.js').Language} Language */
/** @typedef {'audioLanguages' | 'subtitles'} Kind */

/** What the user chose last; absent for the page's own sound, and for no subtitles. @type {Stored<Partial<Record<Kind, string>>>} */
const chosen = new Stored('localStorage', 'languages', {});
const names = new Intl.DisplayNames(locale, { type: 'language', fallback: 'none' });
const described = '-desc';

/** What the user chose, if the page has it. @returns {Language | undefined} */
export function chosenIn(/** @type {Info} */ info, /** @type {Kind} */ kind) {
  const found = info[kind]?.find(({ language }) => language === chosen.value[kind]);
  return found?.isOriginal ? undefined : found;
}

/** A language in the page's own words; the server's if the browser doesn't know it. */
export function nameOf(/** @type {Language} */ { language, label, isDescription, isAutomatic }) {
  const name = nameOfTag(language.replace(described, '')) ?? label;
  if (isDescription) return text('spoken.described', { name });
  return isAutomatic ? text('spoken.automatic', { name }) : name;
}

function nameOfTag(/** @type {string} */ tag) {
  try {
    return names.of(tag);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined; // a site's own name
  }
}

/** The fields for the language of the sound and for subtitles, each only where there is a choice. */
export class LanguageFields {
  #fields;

  /** @param {HTMLElement} box @param {() => void} onChange */
  constructor(box, onChange) {
    this.#fields = findAll(box, 'label').map((label) => {
      const select = make('select');
      const kind = /** @type {Kind} */ (label.dataset.kind);
      label.append(select);
      select.addEventListener('change', () => {
        const { [kind]: _, ...others } = chosen.value;
        chosen.value = select.value === '' ? others : { ...others, [kind]: select.value };
        onChange();
      });
      return { label, select, kind };
    });
  }

  /** @param {Info[]} infos the pages that the choice is for @param {boolean} isSound whether only their sound is saved */
  show(infos, isSound) {
    for (const { label, select, kind } of this.#fields) {
      const all = infos.flatMap((info) => info[kind] ?? []);
      const original = all.find(({ isOriginal }) => isOriginal);
      const others = new Map(all.filter((each) => !each.isOriginal).map((each) => [each.language, each]));
      const own = original ? text('spoken.original', { name: nameOf(original) }) : text('shape.original');
      const first = kind === 'subtitles' ? text('spoken.none') : own;
      const options = [...others].map(([value, each]) => make('option', { value }, nameOf(each)));
      select.replaceChildren(make('option', { value: '' }, first), ...options);
      select.value = others.has(chosen.value[kind] ?? '') ? (chosen.value[kind] ?? '') : '';
      label.hidden = others.size === 0 || (isSound && kind === 'subtitles');
    }
  }
}
