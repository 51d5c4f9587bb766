/**
 * A value that outlasts a reload, in this browser or only in this tab. Without storage (private
 * windows, a full disk) it is lost with the page, which is not an error.
 * @template T
 */
export class Stored {
  #area;
  #name;
  #initial;

  /** @param {'localStorage' | 'sessionStorage'} area @param {string} name @param {T} initial */
  constructor(area, name, initial) {
    this.#area = area;
    this.#name = name;
    this.#initial = initial;
  }

  /** @returns {T} */
  get value() {
    try {
      const value = JSON.parse(window[this.#area].getItem(this.#name) ?? 'null');
      // From an earlier version of the page.
      return Array.isArray(value) === Array.isArray(this.#initial) ? (value ?? this.#initial) : this.#initial;
    } catch {
      return this.#initial;
    }
  }

  set value(value) {
    try {
      const text = JSON.stringify(value);
      if (text === JSON.stringify(this.#initial)) window[this.#area].removeItem(this.#name);
      else window[this.#area].setItem(this.#name, text);
    } catch {
      // See above.
    }
  }
}
