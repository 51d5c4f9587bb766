import { byId } from '../dom.js';
import { formatDuration } from '../format.js';
import { text } from '../texts.js';

/** Parses `90`, `1:30` or `0:01:30.5`, also in full-width characters, into seconds; NaN for anything else. */
function secondsOf(typed) {
  const time = typed.normalize('NFKC').trim().replace(',', '.');
  if (!/^(?:\d{1,2}:[0-5]?\d:[0-5]\d|\d{1,4}:[0-5]\d|\d{1,6})(?:\.\d{1,6})?$/.test(time)) return NaN;
  return time.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}

/** The part of a video to save, if not all of it. */
export class Clip {
  #box = byId('clip');
  #form = byId('clip-form');
  #note = byId('clip-note');
  #suggestion = byId('clip-suggestion');
  #whole = byId('clip-whole');
  #onChange;
  #info;
  /** Whether the page's URL itself selects a part. */
  #isPagesOwn = false;

  /** @param onChange called with `{ start, end }` in seconds, each undefined to use the video's own */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#apply();
    });
    this.#form.addEventListener('input', () => this.#say('clip.help'));
    this.#whole.addEventListener('click', () => {
      // Use the page's own clip unless the whole video is requested.
      this.#onChange(this.#isPagesOwn ? { start: 0, end: this.#info.duration } : {});
    });
    this.#suggestion.addEventListener('click', () => {
      this.#form.elements.start.value = formatDuration(this.#info.suggestedStart);
      this.#apply();
    });
  }

  hide() {
    this.#box.hidden = true;
    this.#box.open = false;
  }

  /**
   * Shows the current part of the downloads, and the part suggested by the link.
   * @param asked the requested `start` and `end`
   */
  show(info, asked) {
    const { duration, suggestedStart = null } = info;
    const isWhole = !info.clip || (info.clip.start === 0 && info.clip.end === duration);
    const clip = isWhole ? null : info.clip;
    this.#info = info;
    this.#isPagesOwn = clip !== null && asked.start === undefined && asked.end === undefined;
    // A server without clip support doesn't mention clips.
    this.#box.hidden = duration === null || info.clip === undefined;
    const { start, end } = this.#form.elements;
    start.value = clip ? formatDuration(clip.start) : '';
    end.value = clip?.end && clip.end !== duration ? formatDuration(clip.end) : '';
    end.placeholder = duration === null ? '' : formatDuration(duration);
    this.#whole.hidden = clip === null;
    this.#suggestion.hidden = clip !== null || suggestedStart === null;
    if (!this.#suggestion.hidden) {
      this.#suggestion.textContent = text('clip.suggested', {
        time: formatDuration(suggestedStart),
      });
    }
    if (clip !== null || !this.#suggestion.hidden) this.#box.open = true;
    this.#say('clip.help');
  }

  #apply() {
    const { start, end } = this.#form.elements;
    const [from, to] = [start, end].map(({ value }) => (value.trim() === '' ? undefined : secondsOf(value)));
    const { duration } = this.#info;
    if (Number.isNaN(from)) return this.#reject(start, 'clip.invalid');
    if (Number.isNaN(to)) return this.#reject(end, 'clip.invalid');
    if (from >= duration) return this.#reject(start, 'clip.outside');
    if (to <= (from ?? 0)) return this.#reject(end, 'clip.order');
    return this.#onChange({ start: from, end: to });
  }

  #reject(field, key) {
    this.#say(key);
    field.setAttribute('aria-invalid', 'true');
    field.focus();
  }

  #say(key) {
    for (const field of this.#form.querySelectorAll('input')) field.removeAttribute('aria-invalid');
    this.#note.textContent = text(key);
  }
}
