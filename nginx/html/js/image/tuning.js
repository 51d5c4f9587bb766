import { byId } from '../dom.js';
import { formatDecimal } from '../format.js';

/** The three parameters of a cut-out, as sliders that are folded away until they are wanted. */
export class Tuning {
  #form = byId('image-tuning');
  #sliders = [...this.#form.querySelectorAll('input')];

  /** @param onChange called after every change of a value */
  constructor(onChange) {
    const unfold = byId('image-adjust');
    unfold.addEventListener('click', () => {
      this.#form.hidden = !this.#form.hidden;
      unfold.setAttribute('aria-expanded', String(!this.#form.hidden));
      if (!this.#form.hidden) this.#sliders[0].focus({ preventScroll: true });
    });
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
      const text = [formatDecimal(slider.valueAsNumber, Number(digits)), unit].filter(Boolean).join(' ');
      slider.parentElement.querySelector('output').textContent = text;
      slider.setAttribute('aria-valuetext', text);
    }
  }
}
