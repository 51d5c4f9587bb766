import { byId, find, findAll, make, setText } from '../dom.js';
import { formatDuration } from '../format.js';
import { joined, text } from '../texts.js';

/** Parses `90`, `1:30` or `0:01:30.5`, also in full-width characters, into seconds; NaN for anything else. */
function secondsOf(/** @type {string} */ typed) {
  const time = typed.normalize('NFKC').trim().replace(',', '.');
  if (!/^(?:\d{1,2}:[0-5]?\d:[0-5]\d|\d{1,4}:[0-5]\d|\d{1,6})(?:\.\d{1,6})?$/.test(time)) return NaN;
  return time.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}

/** The part of a video to save, if not all of it. */
export class Clip {
  #box = byId('clip', HTMLDetailsElement);
  #form = byId('clip-form', HTMLFormElement);
  #start = find(this.#form, '[name="start"]', HTMLInputElement);
  #end = find(this.#form, '[name="end"]', HTMLInputElement);
  #chapter = find(this.#form, '[name="chapter"]', HTMLSelectElement);
  #note = byId('clip-note');
  #suggestion = byId('clip-suggestion');
  #whole = byId('clip-whole');
  #onChange;
  /** @type {import('./look-up.js').Info | undefined} */
  #info;
  /** Whether the page's URL itself selects a part. */
  #isPagesOwn = false;

  /** @param {(part: import('./look-up.js').Part) => void} onChange called with `start` and `end` in seconds, or neither to use the video's own */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#apply();
    });
    this.#form.addEventListener('input', ({ target }) => {
      this.#say('clip.help');
      if (target === this.#chapter) this.#fillIn();
      else this.#showChapter();
    });
    this.#whole.addEventListener('click', () => {
      // Use the page's own clip unless the whole video is requested.
      const end = this.#info?.duration ?? undefined;
      this.#onChange(this.#isPagesOwn && end !== undefined ? { start: 0, end } : {});
    });
    this.#suggestion.addEventListener('click', () => {
      this.#start.value = formatDuration(this.#info?.suggestedStart ?? 0);
      this.#apply();
    });
  }

  hide() {
    this.#box.hidden = true;
    this.#box.open = false;
  }

  /**
   * Shows the current part of the downloads, and the part suggested by the link.
   * @param {import('./look-up.js').Info} info
   * @param {import('./look-up.js').Part} asked the requested `start` and `end`
   * @returns the part in words, for example `0:05–0:09`; an empty string for the whole video
   */
  show(info, asked) {
    const { duration, suggestedStart = null } = info;
    const isWhole = !info.clip || (info.clip.start === 0 && info.clip.end === duration);
    const clip = isWhole ? null : info.clip;
    this.#info = info;
    this.#isPagesOwn = clip !== null && asked.start === undefined && asked.end === undefined;
    // A server without clip support doesn't mention clips.
    this.#box.hidden = duration === null || info.clip === undefined;
    this.#start.value = clip ? formatDuration(clip.start) : '';
    this.#end.value = clip ? this.#endOf(clip) : '';
    this.#end.placeholder = duration === null ? '' : formatDuration(duration);
    this.#whole.hidden = clip === null;
    this.#suggestion.hidden = clip !== null || suggestedStart === null;
    if (suggestedStart !== null) {
      this.#suggestion.textContent = text('clip.suggested', {
        time: formatDuration(suggestedStart),
      });
    }
    this.#listChapters(info.chapters ?? []);
    if (clip !== null || !this.#suggestion.hidden) this.#box.open = true;
    this.#say('clip.help');
    const part = clip ? `${formatDuration(clip.start)}–${formatDuration(clip.end ?? duration ?? 0)}` : '';
    setText(byId('clip-part'), part);
    return part;
  }

  #listChapters(/** @type {import('./look-up.js').Chapter[]} */ chapters) {
    const options = chapters.map(({ title, start }, index) =>
      make('option', { value: String(index) }, joined([formatDuration(start), title])),
    );
    this.#chapter.replaceChildren(make('option', { value: '' }, text('spoken.none')), ...options);
    find(this.#form, '.clip-chapter').hidden = chapters.length < 2;
    this.#showChapter();
  }

  /** Fills in the times of the chosen chapter. */
  #fillIn() {
    const chapter = this.#info?.chapters?.[Number(this.#chapter.value || -1)];
    this.#start.value = chapter ? formatDuration(chapter.start) : '';
    this.#end.value = chapter ? this.#endOf(chapter) : '';
  }

  /** The field is empty for the end of the video. */
  #endOf(/** @type {{ end: number | null }} */ { end }) {
    return end === null || end === this.#info?.duration ? '' : formatDuration(end);
  }

  /** Names the chapter whose times are filled in. */
  #showChapter() {
    const index = this.#info?.chapters?.findIndex(
      (chapter) =>
        formatDuration(chapter.start) === this.#start.value && this.#endOf(chapter) === this.#end.value,
    );
    this.#chapter.value = index === undefined || index === -1 ? '' : String(index);
  }

  #apply() {
    const [start, end] = [this.#start, this.#end];
    const from = start.value.trim() === '' ? undefined : secondsOf(start.value);
    const to = end.value.trim() === '' ? undefined : secondsOf(end.value);
    const duration = this.#info?.duration ?? Infinity;
    if (from !== undefined && Number.isNaN(from)) return this.#reject(start, 'clip.invalid');
    if (to !== undefined && Number.isNaN(to)) return this.#reject(end, 'clip.invalid');
    if (from !== undefined && from >= duration) return this.#reject(start, 'clip.outside');
    if (to !== undefined && to <= (from ?? 0)) return this.#reject(end, 'clip.order');
    return this.#onChange({
      ...(from !== undefined && { start: from }),
      ...(to !== undefined && { end: to }),
    });
  }

  #reject(/** @type {HTMLInputElement} */ field, /** @type {string} */ key) {
    this.#say(key);
    field.setAttribute('aria-invalid', 'true');
    field.focus();
  }

  #say(/** @type {string} */ key) {
    for (const field of findAll(this.#form, 'input')) field.removeAttribute('aria-invalid');
    setText(this.#note, text(key));
  }
}
