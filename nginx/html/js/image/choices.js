import { byId, find } from '../dom.js';
import { formatDecimal, formatPercent } from '../format.js';
import { isolated } from '../texts.js';
import { showValue } from './controls.js';

/** @typedef {import('./worker/cut-out-worker.js').Output} Output */
/** @typedef {import('./worker/output.js').Background} BackgroundValue */

/** The three parameters of a cut-out as sliders. */
export class Tuning {
  #form = byId('image-tuning', HTMLFormElement);
  #sliders = ['threshold', 'feather', 'foreground_strength'].map((name) =>
    byId(`tune-${name}`, HTMLInputElement),
  );

  /** @param {() => void} onChange called after every change of a value */
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

  /** As in the API. @returns {import('./worker/cut-out-worker.js').Tuning} */
  get values() {
    const [threshold, feather, foreground_strength] = this.#sliders.map((slider) => slider.valueAsNumber);
    return { threshold, feather, foreground_strength };
  }

  #changed(/** @type {() => void} */ onChange) {
    this.#showValues();
    onChange();
  }

  #showValues() {
    const { threshold, feather, foreground_strength: strength } = this.values;
    // The unit stays after the number in every script.
    const shown = [
      formatDecimal(threshold, 0),
      `${formatDecimal(feather, 1)} px`,
      `${formatDecimal(strength, 2)} ×`,
    ];
    for (const [index, slider] of this.#sliders.entries())
      showValue(slider, isolated(shown[index], '\u2066'));
  }
}

/** The background of the cut-out: nothing, a colour, or the user's picture. */
export class Background {
  #box = byId('image-backgrounds');
  #colourField = byId('background-colour', HTMLInputElement);
  #pictureFile = byId('background-picture', HTMLInputElement);
  /** @type {File | undefined} */
  #picture;
  #onChange;

  /** @param {() => void} onChange called after every change */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#box.addEventListener('change', ({ target }) => {
      if (target instanceof HTMLInputElement && target.name === 'background') this.#chosen();
    });
    // Selecting an already selected picture lets the user replace it.
    find(this.#box, '[value="picture"]').addEventListener('click', () => this.#pictureFile.click());
    this.#colourField.addEventListener('input', () => this.#onChange());
    this.#pictureFile.addEventListener('change', () => {
      const [file] = this.#pictureFile.files ?? [];
      this.#pictureFile.value = '';
      if (!file) return;
      this.#picture = file;
      this.#onChange();
    });
  }

  /** `{}` for transparent, `{ colour }` as `#rrggbb`, or `{ picture }`. @returns {BackgroundValue} */
  get value() {
    const { value } = find(this.#box, 'input[name="background"]:checked', HTMLInputElement);
    if (value === 'transparent') return {};
    if (value === 'picture') return this.#picture ? { picture: this.#picture } : {};
    return { colour: value === 'colour' ? this.#colourField.value : value };
  }

  chooseWhite() {
    find(this.#box, '[value="#ffffff"]', HTMLInputElement).checked = true;
    this.#chosen();
  }

  #chosen() {
    this.#colourField.hidden = !find(this.#box, '[value="colour"]', HTMLInputElement).checked;
    this.#onChange();
  }
}

const extensions = { png: 'png', webp: 'webp', jpeg: 'jpg' };
const names = { png: 'PNG', webp: 'WebP', jpeg: 'JPEG' };

/** How cut-outs are saved: shape, shadow, format, mask. */
export class OutputOptions {
  #shape = byId('image-shape', HTMLFormElement);
  #margin = byId('shape-margin', HTMLInputElement);
  #file = byId('image-output', HTMLFormElement);

  /**
   * @param {object} handlers
   * @param {() => void} handlers.onChange called after every change
   * @param {() => void} handlers.onShop called when the shape for marketplaces is chosen
   */
  constructor({ onChange, onShop }) {
    for (const form of [this.#shape, this.#file]) {
      form.addEventListener('submit', (event) => event.preventDefault());
      form.addEventListener('input', ({ target }) => {
        this.#showMargin();
        if (target instanceof HTMLInputElement && target.value === 'shop') onShop();
        else onChange();
      });
    }
    this.#showMargin();
  }

  /** @returns {Output} */
  get values() {
    const [shape, file] = [new FormData(this.#shape), new FormData(this.#file)];
    return {
      format: /** @type {Output['format']} */ (file.get('format')),
      shape: /** @type {Output['shape']} */ (shape.get('shape')),
      margin: this.#margin.valueAsNumber / 100,
      shadow: shape.has('shadow'),
      mask: file.has('mask'),
    };
  }

  get formatName() {
    return names[this.values.format];
  }

  get extension() {
    return extensions[this.values.format];
  }

  #showMargin() {
    const { shape, margin } = this.values;
    byId('image-margin').hidden = shape === 'original' || shape === 'shop';
    showValue(this.#margin, formatPercent(margin));
  }
}
