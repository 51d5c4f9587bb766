import { byId } from '../dom.js';
import { formatDate, formatDuration, hostOf } from '../format.js';

/** The thumbnail, title and facts of the video that was looked up. */
export class Summary {
  #box = byId('video-summary');
  #title = byId('video-title');
  #about = byId('video-about');
  #duration = byId('video-duration');
  #thumbnail = byId('video-thumbnail');

  constructor() {
    // The placeholder stays where a thumbnail can't be loaded.
    this.#thumbnail.addEventListener('error', () => (this.#thumbnail.hidden = true));
    this.#thumbnail.addEventListener('load', () => (this.#thumbnail.hidden = false));
  }

  hide() {
    this.#box.hidden = true;
  }

  showWaiting(url) {
    this.#reset(hostOf(url) || url, 'Looking at the page…');
  }

  show(info) {
    const facts = [
      info.uploader,
      hostOf(info.webpageUrl),
      info.uploadDate && formatDate(info.uploadDate),
      info.playlistCount > 1 && `video ${info.playlistIndex ?? 1} of ${info.playlistCount} on the page`,
    ];
    this.#reset(info.title, facts.filter(Boolean).join(' · '));
    this.#duration.hidden = info.duration === null;
    if (info.duration !== null) this.#duration.textContent = formatDuration(info.duration);
    if (info.thumbnail !== null && /^https:/i.test(info.thumbnail)) this.#thumbnail.src = info.thumbnail;
  }

  #reset(title, about) {
    this.#box.hidden = false;
    this.#title.textContent = title;
    this.#about.textContent = about;
    this.#duration.hidden = true;
    this.#thumbnail.hidden = true;
    this.#thumbnail.removeAttribute('src');
  }
}
