import { byId, make } from '../dom.js';
import { text } from '../texts.js';

/** The images of this visit as thumbnails, once there are several. */
export class FilmStrip {
  #list = byId('image-strip');
  #entries = new Map();
  #onSelect;
  #onRemove;

  constructor({ onSelect, onRemove }) {
    this.#onSelect = onSelect;
    this.#onRemove = onRemove;
  }

  add(item) {
    const select = make('button', { type: 'button', className: 'film-frame' });
    select.append(make('img', { src: item.url, alt: '' }), make('span', { className: 'film-state' }));
    select.addEventListener('click', () => this.#onSelect(item));
    const remove = make('button', { type: 'button', className: 'film-remove', textContent: '×' });
    remove.setAttribute('aria-label', text('image.removeNamed', { name: item.file.name }));
    remove.addEventListener('click', () => this.#onRemove(item));
    const element = make('li', {}, select, remove);
    this.#entries.set(item, { element, select });
    this.#list.append(element);
    this.update(item);
  }

  update(item) {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    entry.element.dataset.state = item.state;
    const label = text('common.colon', { name: item.file.name, value: text(`state.${item.state}`) });
    entry.select.setAttribute('aria-label', label);
    this.#list.hidden = this.#entries.size < 2;
  }

  select(item) {
    for (const [other, { select }] of this.#entries) {
      if (other === item) select.setAttribute('aria-current', 'true');
      else select.removeAttribute('aria-current');
    }
    this.#entries.get(item)?.element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  remove(item) {
    const { element } = this.#entries.get(item);
    const next = element.nextElementSibling ?? element.previousElementSibling;
    const hadFocus = element.contains(document.activeElement);
    element.remove();
    this.#entries.delete(item);
    this.#list.hidden = this.#entries.size < 2;
    if (hadFocus) next?.lastChild.focus();
  }
}
