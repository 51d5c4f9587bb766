import { cropped, encodeByCanvas, putOnColour, putOnPixels, toMask, withShadow } from './output.js';
import { decodePng, encodePng } from './png.js';
import { StrokeLayer } from './strokes.js';
import { scaleDown, tune } from './tune.js';
import { zip } from './zip.js';

const previewSide = 1400;

/** The last requested cut-out, decoded. */
let current;
/** The current view: the tuned cut-out at one size, with its strokes. */
let shown;

/** A Blob sent twice arrives as different objects, so `id` identifies the image. */
async function load({ id, png }) {
  if (current?.id === id) return current;
  shown?.original?.close();
  shown = undefined;
  const image = await decodePng(png);
  const step = Math.max(1, Math.ceil(Math.max(image.width, image.height) / previewSide));
  current = { id, image, step, small: scaleDown(image, step) };
  return current;
}

async function show({ file, tuning, full, ...item }) {
  const loaded = await load(item);
  const key = JSON.stringify([tuning, full]);
  if (shown?.key === key) return shown;
  const step = full ? 1 : loaded.step;
  const image = tune(full ? loaded.image : loaded.small, { ...tuning, feather: tuning.feather / step });
  const { width, height } = image;
  const isSameSize = shown?.image.width === width;
  const layer = isSameSize ? shown.layer : new StrokeLayer(width, height);
  if (!isSameSize) shown?.original?.close();
  shown = { key, file, image, step, layer, original: isSameSize ? shown.original : undefined };
  return shown;
}

async function preview({ strokes, ...request }) {
  const view = await show(request);
  view.layer.setStrokes(strokes, 1 / view.step);
  await prepareOriginal(view, strokes);
  const { width, height } = current.image;
  const all = { left: 0, top: 0, right: view.image.width, bottom: view.image.height };
  const bitmap = await bitmapOf(view, all);
  return { result: { bitmap, width, height }, transfer: [bitmap] };
}

/**
 * Draws the next part of a stroke on the current view and returns the changed pixels. The last
 * part contains the whole stroke, in case a preview ran in between.
 */
async function paint({ stroke, points, isLast }) {
  await prepareOriginal(shown, [stroke]);
  if (isLast) shown.layer.dropUnfinished();
  const area = shown.layer.extend(stroke, points, 1 / shown.step);
  if (isLast) shown.layer.finish(stroke.id);
  if (area.left >= area.right || area.top >= area.bottom) return { result: undefined };
  const bitmap = await bitmapOf(shown, area);
  return { result: { bitmap, left: area.left, top: area.top }, transfer: [bitmap] };
}

async function bitmapOf({ image, layer, original }, area) {
  const pixels = new ImageData(area.right - area.left, area.bottom - area.top);
  layer.render(image.data, pixels.data, area, (part) => pixelsIn(original, part));
  return createImageBitmap(pixels);
}

/** Only restoring needs the original image. */
async function prepareOriginal(view, strokes) {
  if (view.original !== undefined || strokes.every(({ erases }) => erases)) return;
  const { width, height } = view.image;
  view.original = await createImageBitmap(view.file, {
    resizeWidth: width,
    resizeHeight: height,
    resizeQuality: 'high',
  });
}

function pixelsIn(bitmap, { left, top, right, bottom }) {
  const [width, height] = [right - left, bottom - top];
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  context.drawImage(bitmap, left, top, width, height, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

/** The cut-out at full size, tuned, with the strokes on it. */
async function finished({ file, tuning, strokes, ...item }) {
  const { image } = await load(item);
  const tuned = tune(image, tuning);
  if (strokes.length === 0) return tuned;
  const { width, height } = tuned;
  const view = { image: tuned, file };
  await prepareOriginal(view, strokes);
  const layer = new StrokeLayer(width, height);
  layer.setStrokes(strokes, 1);
  const all = { left: 0, top: 0, right: width, bottom: height };
  layer.render(tuned.data, tuned.data, all, (part) => pixelsIn(view.original, part));
  view.original?.close();
  return tuned;
}

async function save({ background, output, ...request }) {
  const { format, crop, marginPixels, shadow, mask } = output;
  const whole = await finished(request);
  let result = crop ? cropped(whole, marginPixels) : whole;
  if (mask) toMask(result);
  else if (shadow) result = await withShadow(result);
  // JPEG has no transparency.
  const { colour = format === 'jpeg' && !background.picture ? '#ffffff' : undefined, picture } = background;
  if (!mask && colour) putOnColour(result, colour);
  if (!mask && picture) putOnPixels(result, await covering(picture, result.width, result.height));
  if (format !== 'png') return { result: await encodeByCanvas(result, `image/${format}`) };
  return { result: await encodePng(result, { opaque: mask || Boolean(colour ?? picture) }) };
}

async function archive({ files }) {
  return { result: await zip(files) };
}

/** The pixels of an image that covers an area, cropped if necessary. */
async function covering(picture, width, height) {
  const bitmap = await createImageBitmap(picture);
  const scale = Math.max(width / bitmap.width, height / bitmap.height);
  const [w, h] = [bitmap.width * scale, bitmap.height * scale];
  const context = new OffscreenCanvas(width, height).getContext('2d', { alpha: false });
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, (width - w) / 2, (height - h) / 2, w, h);
  bitmap.close();
  return context.getImageData(0, 0, width, height).data;
}

const tasks = { preview, paint, save, archive };
let last = Promise.resolve();

// Run tasks one at a time, because they share the current view.
addEventListener('message', ({ data }) => {
  last = last
    .then(() => tasks[data.kind](data))
    .then(
      ({ result, transfer = [] }) => postMessage({ task: data.task, result }, transfer),
      (error) => postMessage({ task: data.task, error: String(error?.message ?? error) }),
    );
});
