import { byId, make } from '../dom.js';
import { text } from '../texts.js';

/** @typedef {import('./queued-image.js').QueuedImage} QueuedImage */

/** The images of this visit as thumbnails. */
export class FilmStrip {
  #list = byId('image-strip');
  /** @type {Map<QueuedImage, { element: HTMLLIElement, select: HTMLButtonElement }>} */
  #entries = new Map();
  #onSelect;

  /**
   * @param {object} handlers
   * @param {(item: QueuedImage) => void} handlers.onSelect
   * @param {(item: QueuedImage) => void} handlers.onRemove
   */
  constructor({ onSelect, onRemove }) {
    this.#onSelect = onSelect;
    this.#list.addEventListener('keydown', (event) => {
      const items = [...this.#entries.keys()];
      const index = items.findIndex((item) =>
        this.#entries.get(item)?.element.contains(document.activeElement),
      );
      const item = items[index];
      if (item === undefined) return;
      const isForwards = event.key === (document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight');
      const isBackwards = event.key === (document.dir === 'rtl' ? 'ArrowRight' : 'ArrowLeft');
      if (event.key === 'Delete') onRemove(item);
      else if (isForwards || isBackwards) this.#focus(items[index + (isForwards ? 1 : -1)]);
    });
  }

  #focus(/** @type {QueuedImage | undefined} */ item) {
    if (item === undefined) return;
    this.#onSelect(item);
    this.#entries.get(item)?.select.focus();
  }

  /** @param {QueuedImage} item @param {number} [index] where; by default at the end */
  add(item, index = this.#entries.size) {
    const select = make('button', { type: 'button', className: 'film-frame' });
    const picture = make('img', { src: item.url, alt: '' });
    picture.addEventListener('error', () => picture.remove());
    select.append(picture, make('span', { className: 'film-state' }));
    select.addEventListener('click', () => this.#onSelect(item));
    const element = make('li', {}, select);
    const entries = [...this.#entries];
    entries.splice(index, 0, [item, { element, select }]);
    this.#entries = new Map(entries);
    this.#list.insertBefore(element, this.#list.children[index] ?? null);
    this.update(item);
  }

  update(/** @type {QueuedImage} */ item) {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    entry.element.dataset.state = item.state;
    const label = text('common.colon', { name: item.file.name, value: text(`state.${item.state}`) });
    entry.select.setAttribute('aria-label', label);
  }

  select(/** @type {QueuedImage} */ item) {
    for (const [other, { select }] of this.#entries) {
      if (other === item) select.setAttribute('aria-current', 'true');
      else select.removeAttribute('aria-current');
    }
    this.#entries.get(item)?.element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  remove(/** @type {QueuedImage} */ item) {
    const entry = this.#entries.get(item);
    const next = entry?.element.nextElementSibling ?? entry?.element.previousElementSibling;
    const hadFocus = entry?.element.contains(document.activeElement);
    entry?.element.remove();
    this.#entries.delete(item);
    if (hadFocus) next?.querySelector('button')?.focus();
  }
}
