import { byId, saveBlob } from '../dom.js';
import { formatBytes, formatSeconds } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { problemOf } from '../problem.js';
import { Background } from './background.js';
import { Comparison } from './comparison.js';
import { CutOutWorker } from './cut-out-worker-client.js';
import { problemWithFile, problemWithPixels } from './file-check.js';
import { FilmStrip } from './film-strip.js';
import { Queue, QueuedImage } from './queue.js';
import { Quota } from './quota.js';
import { Tuning } from './tuning.js';

/** From images to their cut-outs: one is shown, the others wait in the strip above it. */
export class ImageTool {
  #box = byId('image');
  #work = byId('image-work');
  #status = byId('image-status');
  #busy = byId('image-busy');
  #busyText = byId('image-busy-text');
  #progress = byId('image-progress');
  #save = byId('image-save');
  #saveAll = byId('image-save-all');
  #copy = byId('image-copy');
  #problems = new ProblemPanel(byId('image-problem'));
  #comparison = new Comparison();
  #worker = new CutOutWorker();
  #tuning = new Tuning(() => void this.#drawPreview());
  #background = new Background(() => this.#comparison.setBackground(this.#background.css));
  #queue = new Queue(new Quota(), (item) => this.#changed(item));
  #strip = new FilmStrip({
    onSelect: (item) => this.#select(item),
    onRemove: (item) => this.#remove(item),
  });
  #items = [];
  #shown;
  #limits = {};
  #countdown;

  constructor() {
    byId('image-cancel').addEventListener('click', () => this.#queue.cancel(this.#shown));
    byId('image-sample').addEventListener('click', () => void this.#openSample());
    this.#save.addEventListener('click', () => void this.#saveItems([this.#shown]));
    this.#saveAll.addEventListener('click', () => void this.#saveItems(this.#done));
    this.#copy.addEventListener('click', () => void this.#copyShown());
    // Only pages over HTTPS, or of this machine, may write to the clipboard.
    this.#copy.hidden = typeof ClipboardItem === 'undefined' || !navigator.clipboard?.write;
  }

  /** Takes the limits of the service, to tell of them before anything is sent. */
  know(limits) {
    this.#limits = limits;
    if (limits.maxFileBytes === undefined) return;
    byId('image-limits').textContent =
      `JPEG, PNG or WebP, up to ${Math.floor(limits.maxFileBytes / 1e6)} MB each`;
  }

  /** Takes new images, refuses what cannot be one, and cuts the others out. What is there stays. */
  async open(files) {
    this.#problems.clear();
    const checked = await Promise.all(
      files.map(async (file) => ({ file, problem: await problemWithFile(file, this.#limits) })),
    );
    const refused = checked.filter(({ problem }) => problem !== undefined).map(({ problem }) => problem);
    const items = checked
      .filter(({ problem }) => problem === undefined)
      .map(({ file }) => new QueuedImage(file));
    if (refused.length > 0) this.#problems.show(together(refused));
    if (items.length === 0) return;
    for (const item of items) {
      this.#items.push(item);
      this.#strip.add(item);
    }
    this.#box.dataset.used = 'true';
    this.#box.scrollIntoView({ block: 'nearest' });
    this.#select(items[0]);
    for (const item of items) this.#queue.add(item);
  }

  get #done() {
    return this.#items.filter(({ state }) => state === 'done');
  }

  async #openSample() {
    try {
      const response = await fetch('samples/photo.jpg');
      await this.open([new File([await response.blob()], 'sample.jpg', { type: 'image/jpeg' })]);
    } catch (error) {
      this.#problems.show(problemOf(error), { retry: () => void this.#openSample() });
    }
  }

  #select(item) {
    this.#shown = item;
    this.#strip.select(item);
    this.#work.hidden = false;
    this.#showState(item);
    void this.#showBefore(item);
    if (item.state === 'done') void this.#drawPreview();
  }

  async #showBefore(item) {
    const size = await this.#comparison.showBefore(item.url);
    if (size === undefined || item.isOver || this.#shown !== item) return;
    const problem = problemWithPixels(item.file.name, size.width, size.height, this.#limits);
    if (problem === undefined) return;
    this.#remove(item);
    this.#problems.show(problem);
  }

  #remove(item) {
    this.#queue.cancel(item);
    this.#strip.remove(item);
    const index = this.#items.indexOf(item);
    this.#items.splice(index, 1);
    URL.revokeObjectURL(item.url);
    if (this.#shown === item) {
      const next = this.#items[Math.min(index, this.#items.length - 1)];
      if (next) this.#select(next);
      else this.#showNothing();
    }
    this.#showActions();
  }

  #showNothing() {
    this.#shown = undefined;
    this.#comparison.clear();
    this.#work.hidden = true;
    this.#box.dataset.used = 'false';
    this.#tell('');
  }

  #changed(item) {
    if (!this.#items.includes(item)) return;
    this.#strip.update(item);
    if (item === this.#shown) {
      this.#showState(item);
      if (item.state === 'done') void this.#drawPreview({ moveFocus: true });
    }
    this.#showActions();
  }

  #showState(item) {
    const { state } = item;
    clearInterval(this.#countdown);
    this.#work.dataset.state = state;
    this.#busy.hidden = item.isOver;
    this.#progress.hidden = state !== 'uploading';
    if (state === 'waiting') this.#showWaiting(item);
    if (state === 'uploading') this.#showUpload(item.progress);
    if (state === 'working') this.#showBusy('Removing the background…');
    if (state === 'cancelled') {
      this.#tell('Cancelled.');
      this.#offer({ title: 'Cancelled', detail: `“${item.file.name}” was not cut out.` }, item);
    }
    if (state === 'failed') {
      this.#tell('');
      this.#offer(problemOf(item.error), item);
    }
    this.#showActions();
  }

  #offer(problem, item) {
    this.#problems.show(problem, {
      retry: () => {
        this.#queue.retry(item);
        this.#select(item);
      },
      onClose: () => this.#remove(item),
    });
  }

  #showUpload(share) {
    this.#busyText.textContent = `Uploading… ${Math.round(share * 100)} %`;
    this.#progress.value = share * 100;
    if (share === 0) this.#tell('Uploading the image.');
  }

  #showBusy(text) {
    this.#busyText.textContent = text;
    this.#tell(text);
  }

  #showWaiting(item) {
    if (item.waitsUntil === undefined) {
      this.#showBusy('Waiting for the images before it…');
      return;
    }
    const show = () => {
      const left = formatSeconds(Math.ceil((item.waitsUntil - performance.now()) / 1000));
      this.#busyText.textContent = `The limit for this minute is reached. Continues automatically in ${left}.`;
    };
    this.#tell('The limit for this minute is reached. The image continues automatically.');
    show();
    this.#countdown = setInterval(show, 500);
  }

  async #drawPreview({ moveFocus = false } = {}) {
    const item = this.#shown;
    if (item?.state !== 'done') return;
    try {
      const preview = await this.#worker.preview(item.png, this.#tuning.values);
      if (preview === undefined || this.#shown !== item) return;
      this.#comparison.showAfter(preview.bitmap);
      this.#comparison.setBackground(this.#background.css);
      this.#work.dataset.preview = 'shown';
      this.#tell(`Done: ${preview.width} × ${preview.height} pixels.`);
    } catch (error) {
      this.#problems.show(unreadable(error));
      return;
    }
    if (!moveFocus) return;
    this.#work.scrollIntoView({ block: 'nearest' });
    // The next key is Enter, unless the reader has gone elsewhere meanwhile.
    const active = document.activeElement;
    if (active === document.body || active.id === 'image-file' || active.id === 'image-cancel') {
      this.#save.focus({ preventScroll: true });
    }
  }

  #showActions() {
    const isDone = this.#shown?.state === 'done';
    for (const id of ['image-after', 'image-actions']) byId(id).hidden = !isDone;
    if (!isDone) this.#work.dataset.preview = 'none';
    if (!isDone) byId('image-tuning').hidden = true;
    if (!isDone) byId('image-adjust').setAttribute('aria-expanded', 'false');
    const { length } = this.#done;
    this.#saveAll.hidden = length < 2;
    this.#saveAll.textContent = `Save all ${length}`;
  }

  #compose(item) {
    return this.#worker.save(item.png, this.#tuning.values, this.#background.value);
  }

  async #saveItems(items) {
    await this.#whileMaking([this.#save, this.#saveAll], async () => {
      let bytes = 0;
      for (const item of items) {
        const png = await this.#compose(item);
        bytes += png.size;
        saveBlob(png, item.pngName);
      }
      const what = items.length === 1 ? items[0].pngName : `${items.length} images`;
      this.#tell(`Saved: ${what} · ${formatBytes(bytes)}`);
    });
  }

  async #copyShown() {
    await this.#whileMaking([this.#copy], async () => {
      // The promise, not its result: Safari allows writing only within the click itself.
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': this.#compose(this.#shown) })]);
      this.#tell('Copied: paste it wherever pictures go.');
    });
  }

  async #whileMaking(buttons, work) {
    if (buttons[0].ariaBusy === 'true') return;
    for (const button of buttons) button.ariaBusy = 'true';
    this.#tell('Making the PNG…');
    try {
      await work();
    } catch (error) {
      this.#tell('');
      this.#problems.show(unreadable(error));
    } finally {
      for (const button of buttons) button.ariaBusy = 'false';
    }
  }

  #tell(text) {
    this.#status.textContent = text;
  }
}

/** One message for all files that were refused. */
function together(problems) {
  if (problems.length === 1) return problems[0];
  return {
    ...problems[0],
    title: `${problems.length} files cannot be used`,
    detail: problems.map(({ detail }) => detail).join(' '),
  };
}

function unreadable(error) {
  return {
    title: 'The cut-out could not be made ready',
    detail: `Your browser could not do it: ${error.message}. A smaller image may work.`,
    retryable: false,
  };
}
