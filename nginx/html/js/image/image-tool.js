import { settleAccessKey } from '../access-key.js';
import { byId, findAll, isBusyOutside, make, setText } from '../dom.js';
import { formatBytes, formatPercent, formatSize } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { problemOf } from '../problem.js';
import { text } from '../texts.js';
import { reasonFor } from '../video/download-state.js';
import { Brush } from './brush.js';
import { Background, OutputOptions, Tuning } from './choices.js';
import { Comparison } from './comparison.js';
import { CutOutWorker } from './cut-out-worker-client.js';
import { FilmStrip } from './film-strip.js';
import { KeptResults } from './kept-results.js';
import { Overall } from './overall.js';
import { prepareFile } from './prepare-file.js';
import { QueuedImage } from './queued-image.js';
import { SaveBar, unreadable } from './save-bar.js';

/** @typedef {import('../problem.js').Problem} Problem */

/** How long a removed image can be brought back. */
const undoMs = 10_000;

/** Turns images into cut-outs. One is shown, the others wait in the strip. */
export class ImageTool {
  #box = byId('image');
  #work = byId('image-work');
  #busy = byId('image-busy');
  #busyText = byId('image-busy-text');
  #progress = byId('image-progress', HTMLProgressElement);
  #notes = byId('image-notes');
  #problems = new ProblemPanel(byId('image-problem'), byId('image-file'));
  #comparison = new Comparison(() => void this.#drawPreview());
  #worker = new CutOutWorker();
  #tuning = new Tuning(() => this.#changedSettings());
  #background = new Background(() => this.#changedSettings());
  #output = new OutputOptions({
    onChange: () => this.#changedSettings(),
    onShop: () => this.#background.chooseWhite(),
  });
  #strip = new FilmStrip({
    onSelect: (item) => this.#select(item),
    onRemove: (item) => this.#remove(item),
  });
  #brush = new Brush({
    onToggle: (isOpen) => {
      this.#work.classList.toggle('is-retouching', isOpen);
      void this.#drawPreview();
    },
    onPaint: (stroke, points, isLast) => this.#paint(stroke, points, isLast),
    onRedraw: () => void this.#drawPreview(),
    onChange: (item) => {
      item.isSaved = false;
      void this.#kept.keepStrokes(item.id, item.strokes);
    },
  });
  #saveBar = new SaveBar(this.#worker, this.#output, {
    settings: () => this.#settings,
    onFailed: (problem) => this.#problems.show(problem),
    tell: (words) => this.#tell(words),
  });
  #kept = new KeptResults();
  #overall;
  #stage;
  #queue;
  #ready;
  /** @type {QueuedImage[]} */
  #items = [];
  /** @type {QueuedImage | undefined} */
  #shown;
  /** @type {import('../connection.js').ImageLimits} */
  #limits = {};
  #countdown = 0;

  /**
   * @param {import('../stage.js').Stage} stage
   * @param {import('../request-queue.js').RequestQueue} queue
   * @param {Promise<unknown>} ready resolves when the service's limits are known, or can't be
   */
  constructor(stage, queue, ready) {
    this.#stage = stage;
    this.#queue = queue;
    this.#ready = ready;
    this.#overall = new Overall(queue);
    byId('image-cancel').addEventListener('click', () => this.#shown?.cancel());
    byId('image-sample').addEventListener('click', () => void this.#openSample());
    byId('image-remove').addEventListener('click', () => this.#shown && this.#remove(this.#shown));
    addEventListener('beforeunload', (event) => {
      if (this.#items.some(isUnsaved)) event.preventDefault();
    });
    void this.#restore();
  }

  /** Restores the results that this tab had before a reload. */
  async #restore() {
    const kept = await this.#kept.restore();
    for (const each of kept) this.#add(new QueuedImage(each.file, (item) => this.#changed(item), each));
    const last = this.#items.at(-1);
    if (this.#shown === undefined && last) this.#select(last);
  }

  #add(/** @type {QueuedImage} */ item, index = this.#items.length) {
    this.#items.splice(index, 0, item);
    this.#strip.add(item, index);
    this.#box.dataset.state = 'open';
    this.#work.hidden = false;
    this.#showActions();
  }

  /** Sets the service's limits, which are shown and checked before sending. */
  know(/** @type {import('../connection.js').ImageLimits} */ limits) {
    this.#limits = limits;
    if (limits.imageMaxBytes === undefined) return;
    const size = formatBytes(Math.floor(limits.imageMaxBytes / 1e6) * 1e6, { isRound: true });
    setText(byId('image-limits'), text('image.typesUpTo', { size }));
  }

  /** Adds images. Converts what the service can't read, and rejects the rest. Keeps earlier images. */
  async open(/** @type {File[]} */ files) {
    this.#problems.clear();
    const items = files.map((file) => new QueuedImage(file, (item) => this.#changed(item)));
    const [first] = items;
    if (first === undefined) return;
    for (const item of items) this.#add(item);
    this.#stage.open('image');
    this.#select(first);
    await this.#ready;
    /** @type {Problem[]} */
    const problems = [];
    const notes = [];
    // One after the other: the first one is sent while the page still reads the others.
    for (const item of items) {
      const { file, isTransparent = false, note, problem } = await prepareFile(item.file, this.#limits);
      if (!this.#items.includes(item)) continue; // removed in the meantime
      if (note) notes.push(note);
      if (problem) problems.push(problem);
      if (file) {
        Object.assign(item, { file, isTransparent });
        void item.send(this.#queue);
      } else this.#drop(item);
    }
    if (problems.length > 0) this.#problems.show(together(problems));
    setText(this.#notes, notes.join(' '));
  }

  async #openSample() {
    try {
      const response = await fetch('samples/photo.jpg');
      await this.open([new File([await response.blob()], 'sample.jpg', { type: 'image/jpeg' })]);
    } catch (error) {
      this.#problems.show(problemOf(error), { retry: () => void this.#openSample() });
    }
  }

  #select(/** @type {QueuedImage} */ item) {
    this.#brush.close();
    this.#shown = item;
    this.#problems.clear();
    this.#strip.select(item);
    setText(byId('image-name'), item.file.name);
    this.#showState(item);
    void this.#comparison.showBefore(item.url);
    if (item.state === 'done') void this.#drawPreview();
  }

  /** Removes an image, which can be undone for a while. */
  #remove(/** @type {QueuedImage} */ item) {
    const index = this.#items.indexOf(item);
    item.cancel();
    this.#drop(item);
    const undo = make('button', { type: 'button', className: 'text-button' }, text('brush.undo'));
    const toast = make('div', { className: 'toast', role: 'status' }, text('image.removed'), undo);
    const timer = setTimeout(() => {
      toast.remove();
      URL.revokeObjectURL(item.url);
    }, undoMs);
    void this.#kept.forget(item.id);
    undo.addEventListener('click', () => {
      clearTimeout(timer);
      toast.remove();
      this.#add(item, index);
      this.#select(item);
      if (item.state !== 'done') void item.send(this.#queue);
      else void this.#keep(item);
    });
    document.querySelector('.toast')?.remove();
    document.body.append(toast);
  }

  #drop(/** @type {QueuedImage} */ item) {
    this.#strip.remove(item);
    const index = this.#items.indexOf(item);
    this.#items.splice(index, 1);
    if (this.#shown === item) {
      const next = this.#items[Math.min(index, this.#items.length - 1)];
      if (next) this.#select(next);
      else this.#showNothing();
    }
    this.#showActions();
    // The focus was on what is gone.
    if (document.activeElement === document.body) byId('image-file').focus({ preventScroll: true });
  }

  #showNothing() {
    this.#shown = undefined;
    this.#problems.clear();
    this.#comparison.clear();
    this.#work.hidden = true;
    this.#box.dataset.state = 'idle';
    setText(this.#notes, '');
    this.#tell('');
  }

  #changed(/** @type {QueuedImage} */ item) {
    if (!this.#items.includes(item)) return;
    this.#strip.update(item);
    if (item.state === 'done') {
      settleAccessKey(true);
      void this.#keep(item);
    }
    if (item === this.#shown) {
      this.#showState(item);
      if (item.state === 'done') void this.#drawPreview({ moveFocus: true });
    }
    this.#showActions();
  }

  /** Stores a result for a reload. */
  async #keep(/** @type {QueuedImage} */ { id, file, isTransparent, png, strokes }) {
    if (png === undefined) return;
    await this.#kept.keep({ id, file, isTransparent, png });
    if (strokes.length > 0) await this.#kept.keepStrokes(id, strokes);
  }

  #showState(/** @type {QueuedImage} */ item) {
    const { state } = item;
    clearInterval(this.#countdown);
    this.#work.dataset.state = state;
    this.#busy.hidden = item.isOver;
    this.#progress.hidden = state !== 'uploading';
    if (state === 'preparing') this.#showBusy(text('image.preparing'));
    if (state === 'waiting') this.#showWaiting(item);
    if (state === 'uploading') {
      setText(this.#busyText, text('image.uploading', { percent: formatPercent(item.progress) }));
      this.#progress.value = item.progress * 100;
    }
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

  #offer(/** @type {Problem} */ problem, /** @type {QueuedImage} */ item) {
    this.#problems.show(problem, {
      retry: () => {
        // What failed for the same reason, for example the key, is sent again with it.
        const isAlike = (/** @type {QueuedImage} */ { state, error }) =>
          state === 'failed' && problemOf(error).code === problem.code;
        for (const each of this.#items) if (each === item || isAlike(each)) void each.send(this.#queue);
        this.#select(item);
      },
      onClose: () => this.#remove(item),
    });
    // The focus was on “Cancel”, which is gone.
    const active = document.activeElement;
    if (active === document.body || this.#busy.contains(active))
      findAll(byId('image-problem'), 'button')[0]?.focus();
  }

  #showBusy(/** @type {string} */ words) {
    setText(this.#busyText, words);
    this.#tell(words);
  }

  #showWaiting(/** @type {QueuedImage} */ item) {
    const show = () => setText(this.#busyText, item.wait ? reasonFor(item.wait) : text('row.next'));
    show();
    this.#tell(text('image.limitedShort'));
    this.#countdown = setInterval(show, 500);
  }

  get #settings() {
    return { tuning: this.#tuning.values, background: this.#background.value, output: this.#output.values };
  }

  #changedSettings() {
    for (const item of this.#items) item.isSaved = false;
    this.#showActions();
    void this.#drawPreview();
  }

  async #drawPreview({ moveFocus = false } = {}) {
    const item = this.#shown;
    if (item?.state !== 'done') return;
    const isRetouching = this.#brush.isOpen;
    try {
      const options = { full: this.#comparison.isZoomed, isRetouching };
      const preview = await this.#worker.preview(item, this.#settings, options);
      if (preview === undefined || this.#shown !== item || isRetouching !== this.#brush.isOpen) return;
      const { frame, width } = preview;
      this.#comparison.showAfter(preview);
      this.#brush.use(item, width);
      this.#work.dataset.preview = 'shown';
      if (!isRetouching) this.#saveBar.describe(item, frame);
      this.#tell(text('image.done', { size: formatSize(frame.width, frame.height) }));
    } catch (error) {
      this.#tell('');
      this.#problems.show(unreadable(error), { retry: () => void this.#drawPreview() });
      return;
    }
    // Focus the main button for Enter, unless the user has moved on in the meantime.
    if (moveFocus && (!isBusyOutside(this.#busy) || document.activeElement?.id === 'image-file')) {
      this.#saveBar.focus();
    }
  }

  /**
   * Draws a part of a stroke on the visible image.
   * @param {import('./queued-image.js').Stroke} stroke @param {Float32Array} points
   * @param {boolean} isLast
   */
  async #paint(stroke, points, isLast) {
    const item = this.#shown;
    try {
      const part = await this.#worker.paint(stroke, points, isLast);
      if (part !== undefined && this.#shown === item) this.#comparison.showPart(part);
    } catch (error) {
      this.#problems.show(unreadable(error));
    }
  }

  #showActions() {
    const isDone = this.#shown?.state === 'done';
    if (!isDone) {
      this.#work.dataset.preview = 'none';
      this.#brush.close();
    }
    const { shape, format } = this.#output.values;
    const { colour, picture } = this.#background.value;
    byId('image-opaque').hidden = format !== 'jpeg' || colour !== undefined || picture !== undefined;
    this.#work.dataset.shape = shape;
    this.#saveBar.show(this.#items, isDone ? this.#shown : undefined);
    this.#overall.show(this.#items);
    this.#stage.mark('image', this.#items.some(isUnsaved));
  }

  #tell(/** @type {string} */ words) {
    setText(byId('image-status'), words);
  }
}

function isUnsaved(/** @type {QueuedImage} */ { isSaved, isOver, png }) {
  return !isSaved && (png !== undefined || !isOver);
}

/** Combines the messages of all rejected files, one per line. @returns {Problem} */
function together(/** @type {Problem[]} */ problems) {
  const [first] = problems;
  if (problems.length === 1) return first;
  return {
    ...first,
    title: text('file.several', { n: problems.length }),
    detail: '',
    errors: problems.map(({ detail }) => ({ field: '', message: detail })),
  };
}
