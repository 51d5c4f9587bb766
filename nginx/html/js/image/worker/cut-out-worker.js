import { framed, frameOf } from './frame.js';
import { contextOf, encodeByCanvas, finished } from './output.js';
import { decodePng, encodePng } from './png.js';
import { StrokeLayer } from './strokes.js';
import { changesOf, scaleDown, tune } from './tune.js';
import { zip } from './zip.js';

/** @typedef {import('./frame.js').Image} Image */
/** @typedef {import('./frame.js').Rectangle} Rectangle */
/** @typedef {import('../queued-image.js').Stroke} Stroke */
/** @typedef {{ threshold: number, feather: number, foreground_strength: number }} Tuning */
/**
 * @typedef {object} Output
 * @property {'png' | 'jpeg' | 'webp'} format
 * @property {import('./frame.js').Shape} shape
 * @property {number} margin as a share of the subject's longer side
 * @property {boolean} shadow
 * @property {boolean} mask
 */
/** @typedef {{ id: string, png: Blob, file: Blob, isTuned: boolean, strokes: Stroke[], tuning: Tuning }} Retouched */
/** @typedef {Retouched & { background: import('./output.js').Background, output: Output }} Finished */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Area */
/** @typedef {{ id: string, image: Image, step: number, small: Image, original?: ImageBitmap }} Loaded */
/** @typedef {{ key: string, file: Blob, image: Image, step: number, layer: StrokeLayer, original: ImageBitmap | undefined }} View */

const previewSide = 1400;
/** Larger files are weighed by their preview: encoding them takes seconds. */
const maxWeighedPixels = 4e6;

/** The last requested cut-out, decoded. @type {Loaded | undefined} */
let current;
/** The current view: the tuned cut-out at one size, with its strokes. @type {View | undefined} */
let shown;

/** A Blob sent twice arrives as different objects, so `id` identifies the image. */
async function load(/** @type {Retouched} */ { id, png }) {
  if (current?.id === id) return current;
  shown?.original?.close();
  shown = undefined;
  const image = await decodePng(png);
  const step = Math.max(1, Math.ceil(Math.max(image.width, image.height) / previewSide));
  current = { id, image, step, small: scaleDown(image, step) };
  return current;
}

/**
 * The image at one size, with its strokes.
 * @param {Retouched} request
 * @param {{ full: boolean, isShown: boolean }} options `isShown`: strokes will be painted on it
 */
async function viewOf(request, { full, isShown }) {
  const { file, strokes } = request;
  const tuning = request.isTuned ? changesOf(request.tuning) : request.tuning;
  const loaded = await load(request);
  const key = JSON.stringify([tuning, full]);
  const view = shown?.key === key ? shown : newView(loaded, file, tuning, full, key);
  view.layer.setStrokes(strokes, 1 / view.step);
  await prepareOriginal(view, strokes);
  if (isShown && shown !== view) {
    if (shown?.original !== view.original) shown?.original?.close();
    shown = view;
  }
  return view;
}

/**
 * @param {Loaded} loaded @param {Blob} file @param {Tuning} tuning @param {boolean} full
 * @param {string} key
 * @returns {View}
 */
function newView({ image: whole, small, step }, file, tuning, full, key) {
  const scale = full ? 1 : step;
  const image = tune(full ? whole : small, { ...tuning, feather: tuning.feather / scale });
  const { width, height } = image;
  // Strokes don't depend on the tuning.
  const same = shown?.image.width === width ? shown : undefined;
  return {
    ...{ key, file, image, step: scale },
    layer: same?.layer ?? new StrokeLayer(width, height),
    original: same?.original,
  };
}

/** The retouched cut-out as it is, for painting on it. */
async function retouch(/** @type {Retouched & { full: boolean }} */ request) {
  const view = await viewOf(request, { full: request.full, isShown: true });
  const { width, height } = /** @type {Loaded} */ (current).image;
  const bitmap = await createImageBitmap(imageData(pixelsOf(view)));
  return { result: { bitmap, width, height, frame: { left: 0, top: 0, width, height } }, transfer: [bitmap] };
}

/** The file as it will be saved, at a size for the screen or at its own. */
async function preview(/** @type {Finished & { full: boolean }} */ request) {
  const { result, frame } = await composed(request, { full: request.full, isShown: true });
  const bitmap = await createImageBitmap(imageData(result.image));
  const { width, height } = /** @type {Loaded} */ (current).image;
  return { result: { bitmap, width, height, frame }, transfer: [bitmap] };
}

/** @param {Finished} request @param {{ full: boolean, isShown: boolean }} options */
async function composed(request, { full, isShown }) {
  const { output } = request;
  const small = await viewOf(request, { full: false, isShown: isShown && !full });
  const { image, step } = /** @type {Loaded} */ (current);
  const frame = frameOf(pixelsOf(small), step, image, output.shape, output.margin);
  const view = full ? await viewOf(request, { full, isShown }) : small;
  const scaled = full ? frame : scaledDown(frame, image, view);
  const result = await finished(
    framed(pixelsOf(view), scaled),
    opaqueIn(output.format, request.background),
    output,
  );
  return { result, frame };
}

/** The frame in a smaller view. The whole image stays whole. */
function scaledDown(
  /** @type {Rectangle} */ frame,
  /** @type {Image} */ whole,
  /** @type {View} */ { image, step },
) {
  if (frame.left === 0 && frame.top === 0 && frame.width === whole.width && frame.height === whole.height) {
    return { left: 0, top: 0, width: image.width, height: image.height };
  }
  return {
    left: Math.round(frame.left / step),
    top: Math.round(frame.top / step),
    width: Math.max(1, Math.round(frame.width / step)),
    height: Math.max(1, Math.round(frame.height / step)),
  };
}

/**
 * JPEG has no transparency.
 * @param {Output['format']} format @param {import('./output.js').Background} background
 */
function opaqueIn(format, background) {
  const isTransparent = background.colour === undefined && background.picture === undefined;
  return format === 'jpeg' && isTransparent ? { colour: '#ffffff' } : background;
}

/**
 * Draws the next part of a stroke on the current view and returns the changed pixels. The last
 * part contains the whole stroke, in case a preview ran in between.
 */
async function paint(
  /** @type {{ stroke: Stroke, points: Float32Array, isLast: boolean }} */ { stroke, points, isLast },
) {
  if (shown === undefined) return { result: undefined };
  const view = shown;
  await prepareOriginal(view, [stroke]);
  if (isLast) view.layer.dropUnfinished();
  const area = view.layer.extend(stroke, points, 1 / view.step);
  if (isLast) view.layer.finish(stroke.id);
  if (area.left >= area.right || area.top >= area.bottom) return { result: undefined };
  const bitmap = await createImageBitmap(imageData(pixelsOf(view, area)));
  return { result: { bitmap, left: area.left, top: area.top }, transfer: [bitmap] };
}

/** The view's pixels with its strokes, in an area or all. @returns {Image} */
function pixelsOf(
  /** @type {View} */ { image, layer, original },
  /** @type {Area | undefined} */ given = undefined,
) {
  const area = given ?? { left: 0, top: 0, right: image.width, bottom: image.height };
  const pixels = new ImageData(area.right - area.left, area.bottom - area.top);
  layer.render(image.data, pixels.data, area, (/** @type {Area} */ part) => pixelsIn(original, part));
  return pixels;
}

/** Only restoring needs the original image. */
async function prepareOriginal(/** @type {View} */ view, /** @type {Stroke[]} */ strokes) {
  if (view.original !== undefined || strokes.every(({ erases }) => erases)) return;
  const { width, height } = view.image;
  const size = { resizeWidth: width, resizeHeight: height };
  view.original = await createImageBitmap(view.file, { ...size, resizeQuality: 'high' });
}

function pixelsIn(
  /** @type {ImageBitmap | undefined} */ bitmap,
  /** @type {Area} */ { left, top, right, bottom },
) {
  const [width, height] = [right - left, bottom - top];
  const context = contextOf(width, height);
  if (bitmap) context.drawImage(bitmap, left, top, width, height, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

function imageData(/** @type {Image} */ { data, width, height }) {
  return new ImageData(data, width, height);
}

/** The file: tuned, retouched, framed, at full size. */
async function save(/** @type {Finished} */ request) {
  const { result } = await composed(request, { full: true, isShown: false });
  return { result: await encoded(request.output.format, result) };
}

/** How large the file will be, in bytes. */
async function weigh(/** @type {Finished} */ request) {
  const { result, frame } = await composed(request, { full: false, isShown: false });
  const pixels = frame.width * frame.height;
  const { step } = /** @type {Loaded} */ (current);
  if (step === 1)
    return { result: { bytes: (await encoded(request.output.format, result)).size, isExact: true } };
  if (pixels <= maxWeighedPixels)
    return { result: { bytes: (await save(request)).result.size, isExact: true } };
  const small = await encoded(request.output.format, result);
  return {
    result: { bytes: (small.size * pixels) / (result.image.width * result.image.height), isExact: false },
  };
}

function encoded(
  /** @type {Output['format']} */ format,
  /** @type {{ image: Image, isOpaque: boolean }} */ { image, isOpaque },
) {
  return format === 'png' ? encodePng(image, { opaque: isOpaque }) : encodeByCanvas(image, `image/${format}`);
}

async function archive(/** @type {{ files: { name: string, blob: Blob }[] }} */ { files }) {
  return { result: await zip(files) };
}

/** @type {Record<string, (request: any) => Promise<{ result: unknown, transfer?: Transferable[] }>>} */
const tasks = { retouch, preview, paint, save, weigh, archive };
/** @type {Promise<unknown>} */
let last = Promise.resolve();

// Run tasks one at a time, because they share the current view.
addEventListener('message', ({ data }) => {
  last = last
    .then(() => tasks[data.kind](data))
    .then(
      ({ result, transfer = [] }) => postMessage({ task: data.task, result }, { transfer }),
      (error) => postMessage({ task: data.task, error: String(error?.message ?? error) }),
    );
});
