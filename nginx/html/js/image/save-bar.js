import { byId, find, saveBlob, setText } from '../dom.js';
import { formatBytes, formatSize } from '../format.js';
import { isAbort } from '../problem.js';
import { errorTextOf, joined, text } from '../texts.js';

/** @typedef {import('./queued-image.js').QueuedImage} QueuedImage */
/** @typedef {import('./cut-out-worker-client.js').Settings} Settings */

/** The weight of a file is measured once the settings rest. */
const restMs = 400;

/** What will be saved, and the buttons that save, copy and share it. */
export class SaveBar {
  #facts = byId('image-file-facts');
  #save = byId('image-save', HTMLButtonElement);
  #saveAll = byId('image-save-all', HTMLButtonElement);
  #copy = byId('image-copy', HTMLButtonElement);
  #share = byId('image-share', HTMLButtonElement);
  #worker;
  #output;
  #handlers;
  /** @type {QueuedImage | undefined} */
  #shown;
  /** @type {QueuedImage[]} */
  #done = [];
  #timer = 0;

  /**
   * @param {import('./cut-out-worker-client.js').CutOutWorker} worker
   * @param {import('./choices.js').OutputOptions} output @param {object} handlers
   * @param {() => Settings} handlers.settings
   * @param {(problem: import('../problem.js').Problem) => void} handlers.onFailed
   * @param {(words: string) => void} handlers.tell
   */
  constructor(worker, output, handlers) {
    this.#worker = worker;
    this.#output = output;
    this.#handlers = handlers;
    this.#save.addEventListener('click', () => this.#shown && void this.#saveItems([this.#shown]));
    this.#saveAll.addEventListener('click', () => void this.#saveItems(this.#done));
    this.#copy.addEventListener('click', () => void this.#copyShown());
    this.#share.addEventListener('click', () => void this.#shareShown());
  }

  focus() {
    this.#save.focus({ preventScroll: true });
  }

  /** @param {QueuedImage[]} items @param {QueuedImage | undefined} shown the one that is finished and shown */
  show(items, shown) {
    this.#shown = shown;
    this.#done = items.filter(({ state }) => state === 'done');
    const isDone = shown !== undefined;
    setText(find(this.#save, 'span'), text('image.save', { format: this.#output.formatName }));
    setText(this.#saveAll, text('image.saveAll', { n: this.#done.length }));
    this.#save.disabled = !isDone;
    this.#saveAll.hidden = this.#done.length < 2;
    // Only pages served over HTTPS or from localhost may write to the clipboard.
    this.#copy.hidden = !isDone || typeof ClipboardItem === 'undefined' || !navigator.clipboard?.write;
    const probe = new File([], 'picture.png', { type: 'image/png' });
    this.#share.hidden = !isDone || !isPhone() || navigator.canShare?.({ files: [probe] }) !== true;
    if (!isDone) setText(this.#facts, '');
  }

  /** Describes the file that will be saved. */
  describe(/** @type {QueuedImage} */ item, /** @type {import('./worker/frame.js').Rectangle} */ frame) {
    const known = [formatSize(frame.width, frame.height), this.#output.formatName];
    setText(this.#facts, joined(known));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const { bytes, isExact } = await this.#worker.weigh(item, this.#handlers.settings());
      const size = formatBytes(bytes);
      const weight = isExact ? size : text('offer.sizeAbout', { size });
      if (this.#shown === item && this.#facts.textContent === joined(known))
        setText(this.#facts, joined([weight, ...known]));
    }, restMs);
  }

  async #saveItems(/** @type {QueuedImage[]} */ items) {
    await this.#whileMaking([this.#save, this.#saveAll], async () => {
      /** @type {{ name: string, blob: Blob }[]} */
      const files = [];
      for (const item of items) {
        const name = freeName(item.nameFor(this.#output.extension), files);
        files.push({ name, blob: await this.#worker.save(item, this.#handlers.settings()) });
      }
      const [first] = files;
      const file =
        files.length === 1 ? first : { name: 'cutouts.zip', blob: await this.#worker.archive(files) };
      saveBlob(file.blob, file.name);
      for (const item of items) item.isSaved = true;
      this.#handlers.tell(text('image.saved', { file: file.name, size: formatBytes(file.blob.size) }));
    });
  }

  async #copyShown() {
    const item = this.#shown;
    if (item === undefined) return;
    await this.#whileMaking([this.#copy], async () => {
      const settings = this.#handlers.settings();
      const png = this.#worker.save(item, { ...settings, output: { ...settings.output, format: 'png' } });
      // The promise, not its result: Safari allows writing only within the click itself.
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
      item.isSaved = true;
      this.#handlers.tell(text('image.copied'));
    });
  }

  /** Shares the file, which on a phone also saves it to the photos. */
  async #shareShown() {
    const item = this.#shown;
    if (item === undefined) return;
    await this.#whileMaking([this.#share], async () => {
      const blob = await this.#worker.save(item, this.#handlers.settings());
      const file = new File([blob], item.nameFor(this.#output.extension), { type: blob.type });
      await navigator.share({ files: [file] });
      item.isSaved = true;
    });
  }

  async #whileMaking(/** @type {HTMLButtonElement[]} */ buttons, /** @type {() => Promise<void>} */ work) {
    if (buttons[0].ariaBusy === 'true') return;
    for (const button of buttons) button.ariaBusy = 'true';
    this.#handlers.tell(text('image.making'));
    try {
      await work();
    } catch (error) {
      this.#handlers.tell('');
      if (!isAbort(error)) this.#handlers.onFailed(unreadable(error));
    } finally {
      for (const button of buttons) button.ariaBusy = 'false';
    }
  }
}

function isPhone() {
  return matchMedia('(pointer: coarse)').matches;
}

/** Returns `photo-cutout.png`, or `photo-cutout (2).png` if that name is taken. */
function freeName(/** @type {string} */ wanted, /** @type {{ name: string }[]} */ files) {
  const isTaken = (/** @type {string} */ name) => files.some((file) => file.name === name);
  const [stem, extension] = [wanted.replace(/\.[^.]*$/, ''), wanted.replace(/^.*(?=\.)/s, '')];
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${stem} (${number})${extension}`;
  return name;
}

/** The problem with making a file. @returns {import('../problem.js').Problem} */
export function unreadable(/** @type {unknown} */ error) {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  const reason = message.replace(/\.$/, '');
  // A worker that can't be loaded gives no reason.
  const failed = reason ? errorTextOf('unfinished', { reason }) : errorTextOf('unreachable');
  return { ...(name === 'NotAllowedError' ? errorTextOf('uncopied') : failed), retryable: !reason };
}
