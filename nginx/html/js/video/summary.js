import { byId, setText } from '../dom.js';
import { formatDate, formatDuration, hostOf } from '../format.js';
import { joined } from '../texts.js';

/** The thumbnail, title and facts of the video that was looked up. */
export class Summary {
  #duration = byId('video-duration');
  #thumbnail = byId('video-thumbnail', HTMLImageElement);

  constructor() {
    // Keep the placeholder if the thumbnail can't be loaded.
    this.#thumbnail.addEventListener('error', () => (this.#thumbnail.hidden = true));
    this.#thumbnail.addEventListener('load', () => (this.#thumbnail.hidden = false));
  }

  show(/** @type {import('./look-up.js').Info} */ info) {
    const facts = [info.uploader, hostOf(info.webpageUrl), info.uploadDate && formatDate(info.uploadDate)];
    setText(byId('video-title'), info.title);
    setText(byId('video-about'), joined(facts));
    const seconds = secondsOf(info);
    this.#duration.hidden = seconds === null;
    if (seconds !== null) setText(this.#duration, formatDuration(Math.round(seconds)));
    this.#thumbnail.hidden = true;
    this.#thumbnail.removeAttribute('src');
    if (info.thumbnail !== null && /^https:/i.test(info.thumbnail)) this.#thumbnail.src = info.thumbnail;
  }
}

/** The duration of the downloads; null if unknown. */
function secondsOf(/** @type {import('./look-up.js').Info} */ { clip, duration }) {
  const end = clip?.end ?? duration;
  return end === null ? null : end - (clip?.start ?? 0);
}
