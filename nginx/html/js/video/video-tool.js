import { byId, find } from '../dom.js';
import { ProblemPanel } from '../problem-panel.js';
import { isAbort, problemOf } from '../problem.js';
import { text } from '../texts.js';
import { Clip } from './clip.js';
import { LinkList } from './link-list.js';
import { isPublicHost, lookUp, pageQuery, urlIn, urlsIn } from './look-up.js';
import { Offers } from './offers.js';
import { Recent } from './recent.js';
import { Summary } from './summary.js';
import { Tray } from './tray.js';

/** Maximum number of pasted links; this is not meant for whole playlists. */
const maxLinks = 20;
/** We wait for rate limits shorter than this; for longer ones, the user has to retry. */
const maxAutomaticWaitSeconds = 120;

/** Turns the link of a page into its downloads. */
export class VideoTool {
  #input = byId('video-url');
  #submit = byId('video-submit');
  #result = byId('video-result');
  #status = byId('video-status');
  #problems = new ProblemPanel(byId('video-problem'), this.#input);
  #summary = new Summary((item) => this.#openPart({ item }));
  #clip = new Clip((clip) => this.#openPart({ item: this.#part.item, ...clip }));
  #recent = new Recent((url) => this.open(url));
  #tray = new Tray((words) => this.#setStatus(words));
  #offers = new Offers((download) => this.#tray.add(download));
  #links = new LinkList({
    onShow: (info, url) => {
      this.#show(info, url);
      byId('video').scrollIntoView();
      this.#offers.focusFirst();
    },
    onDownload: (download, folder) => this.#tray.add(download, folder),
  });
  #request;
  /** URL of the shown page, and the selected part; see look-up.js. */
  #url;
  #part = {};

  constructor() {
    byId('video-form').addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#request) this.#cancel();
      else this.#openText(this.#input.value);
    });
    this.#submit.addEventListener('click', (event) => {
      // The second click of a double-click must not cancel what the first one started.
      if (event.detail > 1) event.preventDefault();
    });
    this.#input.addEventListener('paste', (event) => {
      const { value, selectionStart, selectionEnd } = this.#input;
      const replacesAll = value === '' || selectionEnd - selectionStart === value.length;
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      if (!replacesAll || urlIn(pasted, { bare: true }) === undefined) return;
      event.preventDefault();
      this.#openText(pasted);
    });
    const sample = new URL('samples/clip', document.baseURI);
    byId('video-sample-line').hidden = !isPublicHost(sample.hostname);
    byId('video-sample').addEventListener('click', () => this.open(sample.href));
    this.#input.addEventListener('input', () => this.#input.removeAttribute('aria-invalid'));
  }

  /** Looks up the URLs in a text, as if the user had submitted it. */
  #openText(typed) {
    const urls = urlsIn(typed);
    if (urls.length > 1) this.openAll(urls);
    // Send a text without a URL unchanged; the server's error explains what is wrong.
    else this.open(urlIn(typed, { bare: true }) ?? typed.trim());
  }

  /** Looks up one URL or a part of it; see look-up.js. */
  open(url, part) {
    this.#links.close();
    this.#input.value = url;
    byId('video').scrollIntoView({ block: 'nearest' });
    this.#request?.abort();
    this.#clip.hide();
    void this.#lookUp(url, part);
  }

  /** Looks up several URLs one after the other, but no more than {@link maxLinks}. */
  openAll(found) {
    const urls = found.slice(0, maxLinks);
    const isAll = urls.length === found.length;
    this.#request?.abort();
    this.#finish('idle');
    this.#problems.clear();
    this.#summary.hide();
    this.#offers.clear();
    this.#clip.hide();
    this.#input.value = '';
    const counts = { n: urls.length, count: found.length };
    this.#setStatus(text(isAll ? 'video.lookingUpLinks' : 'video.firstLinks', counts));
    byId('video').scrollIntoView({ block: 'nearest' });
    void this.#links.open(urls).then((isDone) => isDone && isAll && this.#setStatus(''));
  }

  /** Looks up another video of the shown page, or a part of one. */
  #openPart(part) {
    this.#request?.abort();
    void this.#lookUp(this.#url, part);
  }

  async #lookUp(url, part = {}) {
    this.#problems.clear();
    if (url === '') {
      this.#input.setAttribute('aria-invalid', 'true');
      this.#setStatus(text('video.linkMissing'));
      this.#input.focus();
      return;
    }
    this.#input.removeAttribute('aria-invalid');
    const request = new AbortController();
    this.#request = request;
    this.#summary.showWaiting(url);
    this.#offers.clear();
    this.#recent.fold();
    this.#setState('working');
    this.#setStatus(text('video.lookingUp'));
    try {
      const info = await lookUp(url, request.signal, part);
      if (this.#request === request) this.#show(info, url, part);
    } catch (error) {
      if (this.#request !== request || isAbort(error)) return;
      this.#finish('idle');
      this.#summary.hide();
      this.#setStatus('');
      this.#showProblem(problemOf(error), () => void this.#lookUp(url, part));
    }
  }

  #showProblem(problem, retry) {
    if (problem.code === 'invalid_url') this.#input.setAttribute('aria-invalid', 'true');
    this.#problems.show(problem, {
      retry,
      isAutomatic: problem.code === 'rate_limited' && problem.retryAfterSeconds <= maxAutomaticWaitSeconds,
    });
  }

  #show(info, url, part = {}) {
    this.#url = url;
    this.#part = part;
    this.#problems.clear();
    this.#summary.show(info);
    this.#clip.show(info, part);
    const count = this.#offers.show(info);
    // After what fails if the response isn't as expected, for example after the server's upgrade.
    this.#finish('ready');
    this.#setStatus(text(count === 0 ? 'video.nothing' : 'video.choose'));
    this.#recent.add(url, info.title);
    // Make this page's URL a link to the result, which also survives a reload.
    history.replaceState(null, '', `?${pageQuery(url, part)}`);
    // Focus the main button for Enter, unless the user has moved on.
    const active = document.activeElement;
    if (active === document.body || this.#input.form.contains(active)) this.#offers.focusFirst();
  }

  #cancel() {
    this.#request.abort();
    this.#finish('idle');
    this.#summary.hide();
    this.#setStatus(text('common.cancelled'));
    this.#input.focus();
  }

  #finish(state) {
    this.#request = undefined;
    this.#setState(state);
  }

  #setState(state) {
    const working = state === 'working';
    this.#result.dataset.state = state;
    find(this.#submit, '.when-idle').hidden = working;
    find(this.#submit, '.when-busy').hidden = !working;
    this.#submit.classList.toggle('primary', state === 'idle');
  }

  #setStatus(words) {
    this.#status.textContent = words;
  }
}
