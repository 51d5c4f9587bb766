import { byId } from '../dom.js';

const extensions = { png: 'png', webp: 'webp', jpeg: 'jpg' };
const names = { png: 'PNG', webp: 'WebP', jpeg: 'JPEG' };

/** How cut-outs are saved: format, crop, shadow, mask. */
export class OutputOptions {
  #form = byId('image-output');

  /** @param onChange called after every change */
  constructor(onChange) {
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('input', onChange);
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
