import { putOnColour, putOnPixels } from './compose.js';
import { decodePng, encodePng } from './png.js';
import { scaleDown } from './scale.js';
import { tune } from './tune.js';

const previewSide = 1400;

/** The cut-out that was asked for last, decoded, and its smaller copy for the screen. */
let current;

async function load(png) {
  if (current?.png === png) return current;
  const image = await decodePng(png);
  const step = Math.max(1, Math.ceil(Math.max(image.width, image.height) / previewSide));
  current = { png, image, step, small: scaleDown(image, step) };
  return current;
}

async function preview({ png, tuning }) {
  const { image, small, step } = await load(png);
  const { data, width, height } = tune(small, { ...tuning, feather: tuning.feather / step });
  const bitmap = await createImageBitmap(new ImageData(data, width, height));
  return { result: { bitmap, width: image.width, height: image.height }, transfer: [bitmap] };
}

async function save({ png, tuning, background }) {
  const { image } = await load(png);
  const tuned = tune(image, tuning);
  const { colour, picture } = background;
  if (colour) putOnColour(tuned, colour);
  if (picture) putOnPixels(tuned, await covering(picture, tuned.width, tuned.height));
  return { result: await encodePng(tuned, { opaque: Boolean(colour ?? picture) }) };
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

const tasks = { preview, save };

addEventListener('message', ({ data }) => {
  tasks[data.kind](data).then(
    ({ result, transfer = [] }) => postMessage({ id: data.id, result }, transfer),
    (error) => postMessage({ id: data.id, error: String(error?.message ?? error) }),
  );
});
