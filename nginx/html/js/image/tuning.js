import { byId } from '../dom.js';

/** The three parameters of a cut-out, as sliders. */
export class Tuning {
  #form = byId('image-tuning');
  #sliders = [...this.#form.querySelectorAll('input')];

  /** @param onChange called after every change of a value */
  constructor(onChange) {
    this.#form.addEventListener('input', () => this.#changed(onChange));
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('reset', (event) => {
      // By hand: the browser puts the values back only after the event.
      event.preventDefault();
      for (const slider of this.#sliders) slider.value = slider.defaultValue;
      this.#changed(onChange);
    });
    this.#showValues();
  }

  /** The parameters by the names of the API. */
  get values() {
    return Object.fromEntries(this.#sliders.map(({ name, value }) => [name, value]));
  }

  #changed(onChange) {
    this.#showValues();
    onChange();
  }

  #showValues() {
    for (const slider of this.#sliders) {
      const { digits = '0', unit = '' } = slider.dataset;
      const text = [Number(slider.value).toFixed(Number(digits)), unit].filter(Boolean).join(' ');
      slider.parentElement.querySelector('output').textContent = text;
      slider.setAttribute('aria-valuetext', text);
    }
  }
}
