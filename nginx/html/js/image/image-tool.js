import { bringIntoView, byId, find, saveBlob } from '../dom.js';
import { formatBytes, formatPercent, formatSeconds, formatSize } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { problemOf } from '../problem.js';
import { errorText, text } from '../texts.js';
import { Brush } from './brush.js';
import { Background, OutputOptions, Tuning } from './choices.js';
import { Comparison } from './comparison.js';
import { CutOutWorker } from './cut-out-worker-client.js';
import { FilmStrip } from './film-strip.js';
import { KeptResults } from './kept-results.js';
import { prepareFile } from './prepare-file.js';
import { Queue, QueuedImage } from './queue.js';
import { Quota } from './quota.js';

/** Turns images into cut-outs. One is shown, the others wait in the strip above it. */
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
  #problems = new ProblemPanel(byId('image-problem'), byId('image-file'));
  #comparison = new Comparison(() => void this.#drawPreview());
  #worker = new CutOutWorker();
  #tuning = new Tuning(() => void this.#drawPreview());
  #background = new Background(() => this.#comparison.setBackground(this.#background.css));
  #queue = new Queue(new Quota(), (item) => this.#changed(item));
  #strip = new FilmStrip({
    onSelect: (item) => this.#select(item),
    onRemove: (item) => this.#remove(item),
  });
  #brush = new Brush({
    onToggle: (isOpen) => this.#comparison.pause(isOpen),
    onPaint: (...stroke) => this.#paint(...stroke),
    onRedraw: () => void this.#drawPreview(),
    onChange: (item) => this.#retouched(item),
  });
  #output = new OutputOptions(() => this.#showActions());
  #kept = new KeptResults();
  #items = [];
  #shown;
  #limits = {};
  #countdown;

  constructor() {
    byId('image-cancel').addEventListener('click', () => {
      this.#queue.cancel(this.#shown);
      find(byId('image-problem'), 'button').focus();
    });
    byId('image-sample').addEventListener('click', () => void this.#openSample());
    this.#save.addEventListener('click', () => void this.#saveItems([this.#shown]));
    this.#saveAll.addEventListener('click', () => void this.#saveItems(this.#done));
    byId('image-remove').addEventListener('click', () => this.#remove(this.#shown));
    this.#copy.addEventListener('click', () => void this.#copyShown());
    // Only pages served over HTTPS or from localhost may write to the clipboard.
    this.#copy.hidden = typeof ClipboardItem === 'undefined' || !navigator.clipboard?.write;
    addEventListener('beforeunload', (event) => {
      const isUnsaved = ({ isSaved, isOver, png }) => !isSaved && (png || !isOver);
      if (this.#items.some(isUnsaved)) event.preventDefault();
    });
    void this.#restore();
  }

  /** Restores the results that this tab had before a reload. */
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

  /** Sets the service's limits, which are shown and checked before sending. */
  know(limits) {
    this.#limits = limits;
    if (limits.maxFileBytes === undefined) return;
    const size = formatBytes(Math.floor(limits.maxFileBytes / 1e6) * 1e6, { isRound: true });
    byId('image-limits').textContent = text('image.typesUpTo', { size });
  }

  /** Adds images. Converts what the service can't read, and rejects the rest. Keeps earlier images. */
  async open(files) {
    this.#problems.clear();
    const problems = [];
    const notes = [];
    let first;
    // One after the other: the first one is sent while the page still reads the others.
    for (const each of files) {
      const { file, note, problem } = await prepareFile(each, this.#limits);
      if (note) notes.push(note);
      if (problem) problems.push(problem);
      if (!file) continue;
      const item = new QueuedImage(file);
      this.#addItem(item);
      first ??= item;
      if (item === first) {
        this.#box.scrollIntoView({ block: 'nearest' });
        this.#select(item);
      }
      this.#queue.add(item);
    }
    if (problems.length > 0) this.#problems.show(together(problems));
    if (first) this.#notes.textContent = notes.join(' ');
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
    this.#problems.clear();
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
    // The focus was on what is gone.
    if (!document.activeElement.offsetParent) byId('image-file').focus({ preventScroll: true });
  }

  #showNothing() {
    this.#shown = undefined;
    this.#problems.clear();
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
    if (state === 'working') this.#showBusy(text('image.working'));
    if (state === 'cancelled') {
      this.#tell(text('common.cancelled'));
      const detail = text('image.cancelledDetail', { name: item.file.name });
      this.#offer({ title: text('image.cancelled'), detail }, item);
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
        // What failed for the same reason, for example the connection, is sent again with it.
        const isAlike = ({ error }) => error && problemOf(error).code === problem.code;
        for (const each of this.#items) if (each === item || isAlike(each)) this.#queue.retry(each);
        this.#select(item);
      },
      onClose: () => this.#remove(item),
    });
  }

  #showUpload(share) {
    this.#busyText.textContent = text('image.uploading', { percent: formatPercent(share) });
    this.#progress.value = share * 100;
    if (share === 0) this.#tell(text('image.uploadingImage'));
  }

  #showBusy(words) {
    this.#busyText.textContent = words;
    this.#tell(words);
  }

  #showWaiting(item) {
    if (item.waitsUntil === undefined) {
      this.#showBusy(text('image.waitingForOthers'));
      return;
    }
    const show = () => {
      const time = formatSeconds(Math.ceil((item.waitsUntil - performance.now()) / 1000));
      this.#busyText.textContent = text('image.limited', { time });
    };
    this.#tell(text('image.limitedShort'));
    show();
    this.#countdown = setInterval(show, 500);
  }

  async #drawPreview({ moveFocus = false } = {}) {
    const item = this.#shown;
    if (item?.state !== 'done') return;
    try {
      const full = this.#comparison.isZoomed;
      const preview = await this.#worker.preview(item, this.#tuning.values, { full });
      if (preview === undefined || this.#shown !== item) return;
      this.#comparison.showAfter(preview.bitmap, preview);
      this.#comparison.setBackground(this.#background.css);
      this.#brush.use(item, preview.width);
      this.#work.dataset.preview = 'shown';
      this.#tell(text('image.done', { size: formatSize(preview.width, preview.height) }));
    } catch (error) {
      this.#tell('');
      this.#problems.show(unreadable(error), { retry: () => void this.#drawPreview() });
      return;
    }
    if (!moveFocus) return;
    bringIntoView(this.#work);
    // Focus the main button for Enter, unless the user has moved on in the meantime.
    const active = document.activeElement;
    if (active === document.body || active.id === 'image-file' || active.id === 'image-cancel') {
      this.#save.focus({ preventScroll: true });
    }
  }

  /** Draws a part of a stroke on the visible image. */
  async #paint(stroke, points, isLast) {
    const item = this.#shown;
    try {
      const part = await this.#worker.paint(stroke, points, isLast);
      if (part !== undefined && this.#shown === item) this.#comparison.showPart(part);
    } catch (error) {
      this.#problems.show(unreadable(error));
    }
  }

  #retouched(item) {
    item.isSaved = false;
    void this.#kept.keepStrokes(item.id, item.strokes);
  }

  #showActions() {
    const isDone = this.#shown?.state === 'done';
    for (const id of ['image-after', 'image-actions']) byId(id).hidden = !isDone;
    if (!isDone) {
      this.#work.dataset.preview = 'none';
      this.#tuning.fold();
      this.#output.fold();
      this.#brush.close();
    }
    const { length } = this.#done;
    this.#save.textContent = text('image.save', { format: this.#output.formatName });
    this.#saveAll.hidden = length < 2;
    this.#saveAll.textContent = text('image.saveAll', { n: length });
  }

  #compose(item, options = {}) {
    const output = { ...this.#output.values, ...options };
    return this.#worker.save(item, this.#tuning.values, this.#background.value, output);
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
      this.#tell(text('image.saved', { file: file.name, size: formatBytes(file.blob.size) }));
    });
  }

  async #copyShown() {
    await this.#whileMaking([this.#copy], async () => {
      const png = this.#compose(this.#shown, { format: 'png' });
      // The promise, not its result: Safari allows writing only within the click itself.
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
      this.#shown.isSaved = true;
      this.#tell(text('image.copied'));
    });
  }

  async #whileMaking(buttons, work) {
    if (buttons[0].ariaBusy === 'true') return;
    for (const button of buttons) button.ariaBusy = 'true';
    this.#tell(text('image.making'));
    try {
      await work();
    } catch (error) {
      this.#tell('');
      this.#problems.show(unreadable(error));
    } finally {
      for (const button of buttons) button.ariaBusy = 'false';
    }
  }

  #tell(words) {
    this.#status.textContent = words;
  }
}

/** Combines the messages of all rejected files, one per line. */
function together(problems) {
  if (problems.length === 1) return problems[0];
  return {
    ...problems[0],
    title: text('file.several', { n: problems.length }),
    detail: '',
    errors: problems.map(({ detail }) => ({ field: '', message: detail })),
  };
}

/** Returns `photo-cutout.png`, or `photo-cutout (2).png` if that name is taken. */
function freeName(wanted, files) {
  const isTaken = (name) => files.some((file) => file.name === name);
  const [stem, extension] = [wanted.replace(/\.[^.]*$/, ''), wanted.replace(/^.*(?=\.)/s, '')];
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${stem} (${number})${extension}`;
  return name;
}

function unreadable({ name, message }) {
  const reason = message.replace(/\.$/, '');
  // A worker that can't be loaded gives no reason.
  const failed = reason ? errorText('unfinished', { reason }) : errorText('unreachable');
  return { ...(name === 'NotAllowedError' ? errorText('uncopied') : failed), retryable: !reason };
}
