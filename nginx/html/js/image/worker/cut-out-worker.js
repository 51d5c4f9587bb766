import { putOnColour, putOnPixels } from './compose.js';
import { cropped, encodeByCanvas, toMask, withShadow } from './output.js';
import { decodePng, encodePng } from './png.js';
import { scaleDown } from './scale.js';
import { tune } from './tune.js';
import { zip } from './zip.js';

const previewSide = 1400;

/** The cut-out that was requested last, decoded, and its smaller copy for the screen. */
let current;

async function load(png) {
  if (current?.png === png) return current;
  const image = await decodePng(png);
  const step = Math.max(1, Math.ceil(Math.max(image.width, image.height) / previewSide));
  current = { png, image, step, small: scaleDown(image, step) };
  return current;
}

async function preview({ png, tuning, full }) {
  const loaded = await load(png);
  const { image } = loaded;
  const { small, step } = full ? { small: image, step: 1 } : loaded;
  const { data, width, height } = tune(small, { ...tuning, feather: tuning.feather / step });
  const bitmap = await createImageBitmap(new ImageData(data, width, height));
  return { result: { bitmap, width: image.width, height: image.height }, transfer: [bitmap] };
}

async function save({ png, tuning, background, output }) {
  const { format, crop, marginPixels, shadow, mask } = output;
  const { image } = await load(png);
  const tuned = tune(image, tuning);
  let result = crop ? cropped(tuned, marginPixels) : tuned;
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

/** The pixels of a picture that fills an area, cut off where it is wider or higher. */
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

const tasks = { preview, save, archive };

addEventListener('message', ({ data }) => {
  tasks[data.kind](data).then(
    ({ result, transfer = [] }) => postMessage({ id: data.id, result }, transfer),
    (error) => postMessage({ id: data.id, error: String(error?.message ?? error) }),
  );
});
