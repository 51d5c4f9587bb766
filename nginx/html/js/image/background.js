import { byId } from '../dom.js';

/** What is put behind the cut-out: nothing, a colour, or a picture of the reader's. */
export class Background {
  #box = byId('image-backgrounds');
  #colourField = byId('background-colour');
  #pictureFile = byId('background-picture');
  #picture;
  #pictureUrl;
  #onChange;

  /** @param onChange called after every change */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#box.addEventListener('change', (event) => {
      if (event.target.name === 'background') this.#choose(event.target.value);
    });
    // A picture that is chosen already can be replaced by choosing it again.
    this.#box.querySelector('[value="picture"]').addEventListener('click', () => this.#pictureFile.click());
    this.#colourField.addEventListener('input', () => this.#onChange());
    this.#pictureFile.addEventListener('change', () => {
      const [file] = this.#pictureFile.files;
      this.#pictureFile.value = '';
      if (file) this.#take(file);
    });
  }

  /** `{}` for transparent, `{ colour }` as `#rrggbb`, or `{ picture }` as a file. */
  get value() {
    const chosen = this.#chosen;
    if (chosen === 'transparent') return {};
    if (chosen === 'picture') return this.#picture ? { picture: this.#picture } : {};
    return { colour: chosen === 'colour' ? this.#colourField.value : chosen };
  }

  /** The same as CSS values. */
  get css() {
    const { colour, picture } = this.value;
    return { colour, picture: picture && this.#pictureUrl };
  }

  get #chosen() {
    return this.#box.querySelector('input[name="background"]:checked').value;
  }

  #choose(value) {
    this.#colourField.hidden = value !== 'colour';
    this.#onChange();
  }

  #take(file) {
    if (this.#pictureUrl) URL.revokeObjectURL(this.#pictureUrl);
    this.#picture = file;
    this.#pictureUrl = URL.createObjectURL(file);
    this.#onChange();
  }
}
