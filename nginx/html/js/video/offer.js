import { find, fromTemplate } from '../dom.js';
import { describeDownload } from './describe-download.js';

/** One download that a page offers: what it will be, and the button that starts it. */
export class Offer {
  #start;

  /**
   * @param isMain whether most people want this one
   * @param onStart called with the download: `target`, `href` and a `name` for the reader
   */
  constructor(download, formats, isMain, onStart) {
    this.element = fromTemplate('download-template');
    this.element.dataset.target = download.target;
    const { title, tag, about } = describeDownload(download, formats);
    const name = `${title} ${tag}`;
    find(this.element, '.download-title').textContent = title;
    find(this.element, '.tag').textContent = tag;
    find(this.element, '.download-about').textContent = about;
    this.#start = find(this.element, '.download-start');
    find(this.#start, '.visually-hidden').textContent = ` ${name}`;
    this.#start.classList.toggle('primary', isMain);
    this.#start.href = download.href;
    this.#start.addEventListener('click', (event) => {
      event.preventDefault();
      // The second click of a double-click is not a second download.
      const { target, href, container } = download;
      if (event.detail < 2) onStart({ target, href, container, name });
    });
  }

  focus() {
    this.#start.focus({ preventScroll: true });
  }
}
