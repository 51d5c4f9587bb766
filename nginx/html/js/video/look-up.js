import { withAccessKey } from '../access-key.js';
import { request } from '../problem.js';
import { Stored } from '../stored.js';

/**
 * A part of a page: the number of its video, from 1, and a clip in seconds.
 * @typedef {{ item?: number | string, start?: number | string, end?: number | string }} Part
 */
/**
 * @typedef {object} Offer one of `downloads` of `/api/info`
 * @property {string} target
 * @property {string} href
 * @property {number} [height]
 * @property {string | null} [video]
 * @property {string | null} [plays]
 * @property {string | null} audio
 * @property {string[]} formatIds
 * @property {number | null} estimatedBytes
 * @property {number | null} [exactBytes]
 */
/**
 * @typedef {{ id: string, width?: number, height?: number, videoCodec?: string, audioCodec?: string }} Format
 * @typedef {{ href: string, container: string, codec: string | null, estimatedBytes: number | null, exactBytes: number | null }} OriginalAudio
 * @typedef {{ language: string, label: string, isOriginal?: boolean, isDescription?: boolean, isAutomatic?: boolean }} Language of the sound, or of subtitles
 * @typedef {{ title: string, start: number, end: number | null }} Chapter
 * @typedef {{ index: number, title: string | null, duration?: number | null, thumbnail?: string | null }} Item
 */
/**
 * @typedef {object} Info the response of `/api/info`
 * @property {string} title
 * @property {string | null} thumbnail
 * @property {number | null} duration
 * @property {number | null} [suggestedStart]
 * @property {{ start: number, end: number | null } | null} [clip]
 * @property {string | null} uploader
 * @property {string} webpageUrl
 * @property {string | null} uploadDate
 * @property {number | null} playlistIndex
 * @property {number | null} playlistCount
 * @property {Item[]} [items]
 * @property {Format[]} formats
 * @property {Offer[]} downloads
 * @property {OriginalAudio | null} [originalAudio]
 * @property {Language[]} [audioLanguages]
 * @property {Language[]} [subtitles]
 * @property {Chapter[]} [chapters]
 */

/** By query, the latest last. @type {Stored<[string, Info][]>} */
const stored = new Stored('sessionStorage', 'look-ups', []);
const most = 60;

/** Looks up pages, and remembers them in this tab. */
export class LookUps {
  #queue;
  #known = new Map(stored.value);

  constructor(/** @type {import('../request-queue.js').RequestQueue} */ queue) {
    this.#queue = queue;
  }

  /** A page that was looked up earlier in this tab. */
  known(/** @type {string} */ url, /** @type {Part} */ part = {}) {
    return this.#known.get(String(pageQuery(url, part)));
  }

  /**
   * Fetches `/api/info` for a page.
   * @param {string} url @param {Part} part @param {import('../request-queue.js').Options} options
   */
  async find(url, part, options) {
    const query = String(pageQuery(url, part));
    const ask = () => request(`api/info?${query}`, { headers: withAccessKey(), signal: options.signal });
    const response = await this.#queue.run('lookup', ask, options);
    /** @type {Info} */
    const info = await response.json();
    this.#known.delete(query);
    this.#known.set(query, info);
    stored.value = [...this.#known].slice(-most);
    return info;
  }
}

/** The query for a URL and a part of it, without undefined values. */
export function pageQuery(/** @type {string} */ url, /** @type {Part} */ part) {
  const given = Object.entries(part).filter(([, value]) => value !== undefined);
  return new URLSearchParams([['url', url], ...given.map(([name, value]) => [name, String(value)])]);
}
