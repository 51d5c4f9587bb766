import { byId, make } from '../dom.js';
import { formatDate, formatDuration, hostOf } from '../format.js';
import { joined, text } from '../texts.js';

/** The thumbnail, title and facts of the video that was looked up. */
export class Summary {
  #box = byId('video-summary');
  #title = byId('video-title');
  #about = byId('video-about');
  #duration = byId('video-duration');
  #thumbnail = byId('video-thumbnail');
  #itemLine = byId('video-item-line');
  #items = byId('video-item');

  /** @param onItem called with the number of the chosen video, from 1 */
  constructor(onItem) {
    this.#items.addEventListener('change', () => onItem(Number(this.#items.value)));
    // Keep the placeholder if the thumbnail can't be loaded.
    this.#thumbnail.addEventListener('error', () => (this.#thumbnail.hidden = true));
    this.#thumbnail.addEventListener('load', () => (this.#thumbnail.hidden = false));
  }

  hide() {
    this.#box.hidden = true;
  }

  showWaiting(url) {
    this.#reset(hostOf(url) || url, text('video.lookingUp'));
  }

  show(info) {
    const facts = [info.uploader, hostOf(info.webpageUrl), info.uploadDate && formatDate(info.uploadDate)];
    this.#reset(info.title, joined(facts));
    this.#showItems(info);
    const seconds = secondsOf(info);
    this.#duration.hidden = seconds === null;
    if (seconds !== null) this.#duration.textContent = formatDuration(Math.round(seconds));
    if (info.thumbnail !== null && /^https:/i.test(info.thumbnail)) this.#thumbnail.src = info.thumbnail;
  }

  /** Lets the user choose one of a page's videos. */
  #showItems({ items = [], playlistIndex, playlistCount }) {
    this.#itemLine.hidden = items.length < 2;
    const options = items.map(({ index, title }) =>
      make(
        'option',
        { value: String(index) },
        text('video.itemName', { n: index, count: playlistCount ?? items.length, title: title ?? '…' }),
      ),
    );
    this.#items.replaceChildren(...options);
    this.#items.value = String(playlistIndex ?? 1);
  }

  #reset(title, about) {
    this.#box.hidden = false;
    this.#title.textContent = title;
    this.#about.textContent = about;
    this.#duration.hidden = true;
    this.#itemLine.hidden = true;
    this.#thumbnail.hidden = true;
    this.#thumbnail.removeAttribute('src');
  }
}

/** The duration of the downloads; null if unknown. */
function secondsOf({ clip, duration }) {
  const end = clip?.end ?? duration;
  return end === null ? null : end - (clip?.start ?? 0);
}
