import { byId } from '../dom.js';
import { formatDecimal } from '../format.js';
import { isolated } from '../texts.js';

/** A form that its button folds and unfolds. */
class FoldingForm {
  #button;
  #form;

  constructor(button, form) {
    this.#button = button;
    this.#form = form;
    button.addEventListener('click', () => {
      this.#show(form.hidden);
      if (!form.hidden) form.elements[0].focus({ preventScroll: true });
    });
  }

  fold() {
    this.#show(false);
  }

  #show(isUnfolded) {
    this.#form.hidden = !isUnfolded;
    this.#button.setAttribute('aria-expanded', String(isUnfolded));
  }
}

/** The three parameters of a cut-out as sliders, collapsed by default. */
export class Tuning {
  #form = byId('image-tuning');
  #folding = new FoldingForm(byId('image-adjust'), this.#form);
  #sliders = [...this.#form.querySelectorAll('input')];

  /** @param onChange called after every change of a value */
  constructor(onChange) {
    this.#form.addEventListener('input', () => this.#changed(onChange));
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('reset', (event) => {
      // Reset manually, because the browser resets the values only after the event.
      event.preventDefault();
      for (const slider of this.#sliders) slider.value = slider.defaultValue;
      this.#changed(onChange);
    });
    this.#showValues();
  }

  fold() {
    this.#folding.fold();
  }

  /** `{ threshold, feather, foreground_strength }`, as in the API. */
  get values() {
    return Object.fromEntries(this.#sliders.map(({ name, valueAsNumber }) => [name, valueAsNumber]));
  }

  #changed(onChange) {
    this.#showValues();
    onChange();
  }

  #showValues() {
    for (const slider of this.#sliders) {
      const { digits = '0', unit = '' } = slider.dataset;
      const value = [formatDecimal(slider.valueAsNumber, Number(digits)), unit].filter(Boolean).join(' ');
      // The unit stays after the number in every script.
      const text = isolated(value, '\u2066');
      slider.parentElement.querySelector('output').textContent = text;
      slider.setAttribute('aria-valuetext', text);
    }
  }
}

/** The background of the cut-out: nothing, a colour, or the user's image. */
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
    // Selecting an already selected image lets the user replace it.
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

const extensions = { png: 'png', webp: 'webp', jpeg: 'jpg' };
const names = { png: 'PNG', webp: 'WebP', jpeg: 'JPEG' };

/** How cut-outs are saved: format, crop, shadow, mask. */
export class OutputOptions {
  #form = byId('image-output');
  #folding = new FoldingForm(byId('image-save-options'), this.#form);

  /** @param onChange called after every change */
  constructor(onChange) {
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('input', onChange);
  }

  fold() {
    this.#folding.fold();
  }

  /** `{ format, crop, marginPixels, shadow, mask }` */
  get values() {
    const { format, crop, margin, shadow, mask } = this.#form.elements;
    const marginPixels = Math.max(0, Math.round(margin.valueAsNumber || 0));
    return {
      format: format.value,
      crop: crop.checked,
      marginPixels,
      shadow: shadow.checked,
      mask: mask.checked,
    };
  }

  get formatName() {
    return names[this.values.format];
  }

  get extension() {
    return extensions[this.values.format];
  }
}
