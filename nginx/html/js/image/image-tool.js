import { byId, saveBlob } from '../dom.js';
import { formatBytes, formatSeconds } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { problemOf } from '../problem.js';
import { Background } from './background.js';
import { Comparison } from './comparison.js';
import { CutOutWorker } from './cut-out-worker-client.js';
import { FilmStrip } from './film-strip.js';
import { KeptResults } from './kept-results.js';
import { OutputOptions } from './output-options.js';
import { prepareFile } from './prepare-file.js';
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
  #notes = byId('image-notes');
  #save = byId('image-save');
  #saveAll = byId('image-save-all');
  #copy = byId('image-copy');
  #problems = new ProblemPanel(byId('image-problem'));
  #comparison = new Comparison(() => void this.#drawPreview());
  #worker = new CutOutWorker();
  #tuning = new Tuning(() => void this.#drawPreview());
  #background = new Background(() => this.#comparison.setBackground(this.#background.css));
  #queue = new Queue(new Quota(), (item) => this.#changed(item));
  #strip = new FilmStrip({
    onSelect: (item) => this.#select(item),
    onRemove: (item) => this.#remove(item),
  });
  #output = new OutputOptions(() => this.#showActions());
  #kept = new KeptResults();
  #items = [];
  #shown;
  #limits = {};
  #countdown;

  constructor() {
    byId('image-cancel').addEventListener('click', () => this.#queue.cancel(this.#shown));
    byId('image-sample').addEventListener('click', () => void this.#openSample());
    this.#save.addEventListener('click', () => void this.#saveItems([this.#shown]));
    this.#saveAll.addEventListener('click', () => void this.#saveItems(this.#done));
    byId('image-remove').addEventListener('click', () => this.#remove(this.#shown));
    this.#copy.addEventListener('click', () => void this.#copyShown());
    // Only pages over HTTPS, or of this machine, may write to the clipboard.
    this.#copy.hidden = typeof ClipboardItem === 'undefined' || !navigator.clipboard?.write;
    addEventListener('beforeunload', (event) => {
      if (this.#done.some(({ isSaved }) => !isSaved)) event.preventDefault();
    });
    void this.#restore();
  }

  /** Shows what this tab had finished before it was reloaded. */
  async #restore() {
    const items = (await this.#kept.restore()).map((kept) => new QueuedImage(kept.file, kept));
    if (items.length === 0) return;
    for (const item of items) this.#addItem(item);
    if (this.#shown === undefined) this.#select(items.at(-1));
  }

  #addItem(item) {
    this.#items.push(item);
    this.#strip.add(item);
    this.#box.dataset.used = 'true';
  }

  /** Takes the limits of the service, to show and apply them before anything is sent. */
  know(limits) {
    this.#limits = limits;
    if (limits.maxFileBytes === undefined) return;
    byId('image-limits').textContent =
      `JPEG, PNG or WebP, up to ${Math.floor(limits.maxFileBytes / 1e6)} MB each`;
  }

  /** Takes new images, converts what the service can't read, and rejects the rest. Earlier images stay. */
  async open(files) {
    this.#problems.clear();
    const prepared = await Promise.all(files.map((file) => prepareFile(file, this.#limits)));
    const problems = prepared.map(({ problem }) => problem).filter(Boolean);
    const notes = prepared.map(({ note }) => note).filter(Boolean);
    const items = prepared.filter(({ file }) => file).map(({ file }) => new QueuedImage(file));
    if (problems.length > 0) this.#problems.show(together(problems));
    if (items.length === 0) return;
    for (const item of items) this.#addItem(item);
    this.#box.scrollIntoView({ block: 'nearest' });
    this.#select(items[0]);
    this.#notes.textContent = notes.join(' ');
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
    void this.#comparison.showBefore(item.url);
    if (item.state === 'done') void this.#drawPreview();
  }

  #remove(item) {
    this.#queue.cancel(item);
    this.#strip.remove(item);
    const index = this.#items.indexOf(item);
    this.#items.splice(index, 1);
    URL.revokeObjectURL(item.url);
    void this.#kept.forget(item.id);
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
    this.#notes.textContent = '';
    this.#tell('');
  }

  #changed(item) {
    if (!this.#items.includes(item)) return;
    this.#strip.update(item);
    if (item.state === 'done') void this.#kept.keep({ id: item.id, file: item.file, png: item.png });
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
      this.#offer({ title: 'Cancelled', detail: `“${item.file.name}” wasn’t cut out.` }, item);
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
      const full = this.#comparison.isZoomed;
      const preview = await this.#worker.preview(item.png, this.#tuning.values, { full });
      if (preview === undefined || this.#shown !== item) return;
      this.#comparison.showAfter(preview.bitmap, preview);
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
    byId('image-save-options').hidden = !isDone;
    this.#save.textContent = `Save ${this.#output.formatName}`;
    this.#saveAll.hidden = length < 2;
    this.#saveAll.textContent = `Save all ${length} as ZIP`;
  }

  #compose(item, options = {}) {
    const output = { ...this.#output.values, ...options };
    return this.#worker.save(item.png, this.#tuning.values, this.#background.value, output);
  }

  async #saveItems(items) {
    await this.#whileMaking([this.#save, this.#saveAll], async () => {
      const files = [];
      for (const item of items) {
        const name = freeName(item.nameFor(this.#output.extension), files);
        files.push({ name, blob: await this.#compose(item) });
      }
      const [first] = files;
      const file =
        files.length === 1 ? first : { name: 'cutouts.zip', blob: await this.#worker.archive(files) };
      saveBlob(file.blob, file.name);
      for (const item of items) item.isSaved = true;
      this.#tell(`Saved: ${file.name} · ${formatBytes(file.blob.size)}`);
    });
  }

  async #copyShown() {
    await this.#whileMaking([this.#copy], async () => {
      const png = this.#compose(this.#shown, { format: 'png' });
      // The promise, not its result: Safari allows writing only within the click itself.
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
      this.#shown.isSaved = true;
      this.#tell('Copied. You can paste it now.');
    });
  }

  async #whileMaking(buttons, work) {
    if (buttons[0].ariaBusy === 'true') return;
    for (const button of buttons) button.ariaBusy = 'true';
    this.#tell('Making the file…');
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

/** One message for all rejected files, a line each. */
function together(problems) {
  if (problems.length === 1) return problems[0];
  return {
    ...problems[0],
    title: `${problems.length} files can’t be used`,
    detail: '',
    errors: problems.map(({ detail }) => ({ field: '', message: detail })),
  };
}

/** `photo-cutout.png`, or `photo-cutout (2).png` where a file before it has that name. */
function freeName(wanted, files) {
  const isTaken = (name) => files.some((file) => file.name === name);
  const [stem, extension] = [wanted.replace(/\.[^.]*$/, ''), wanted.replace(/^.*(?=\.)/s, '')];
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${stem} (${number})${extension}`;
  return name;
}

function unreadable(error) {
  return {
    title: 'Your browser couldn’t finish the cut-out',
    detail: `${error.message}. A smaller image may work.`,
    retryable: false,
  };
}
