import { formatBytes, formatSize } from '../format.js';
import { text } from '../texts.js';
import { canBeSent, problemWithFile, problemWithPixels } from './file-check.js';

const jpegQuality = 0.92;
const shrinkStep = 0.8;

/**
 * Makes a file that the service accepts: converts what only the browser can read,
 * and shrinks what is over a limit.
 * @param limits `maxFileBytes` and `maxPixels`, where they are known
 * @returns `{ file, note }`, the note being undefined for an unchanged file, or `{ problem }`
 */
export async function prepareFile(file, limits) {
  const problem = await problemWithFile(file, limits);
  const bitmap = await decoded(file);
  if (bitmap === undefined) return problem ? { problem } : { file };
  try {
    const tooManyPixels = problemWithPixels(file.name, bitmap.width, bitmap.height, limits);
    if (problem === undefined && tooManyPixels === undefined) return { file };
    return await converted(file, bitmap, limits);
  } finally {
    bitmap.close();
  }
}

async function decoded(file) {
  if (file.size === 0 || file.type.startsWith('video/')) return undefined;
  try {
    return await createImageBitmap(file);
  } catch {
    // No image for this browser; the service decides about the types it accepts.
    return undefined;
  }
}

async function converted(file, bitmap, { maxFileBytes = Infinity, maxPixels = Infinity }) {
  // JPEG has no transparency; WebP keeps it.
  const type =
    file.type === 'image/jpeg' || /\.(jpe?g|hei[cf])$/i.test(file.name) ? 'image/jpeg' : 'image/webp';
  const pixels = bitmap.width * bitmap.height;
  let scale = Math.min(1, Math.sqrt(maxPixels / pixels));
  for (;;) {
    const [width, height] = [bitmap.width, bitmap.height].map((side) =>
      Math.max(1, Math.floor(side * scale)),
    );
    const blob = await drawn(bitmap, width, height, type);
    if (blob.size <= maxFileBytes || width * height === 1) {
      const name = `${file.name.replace(/\.[^.]*$/, '')}.${type === 'image/jpeg' ? 'jpg' : 'webp'}`;
      const what = (await canBeSent(file)) ? 'image.madeSmaller' : 'image.converted';
      const size = formatSize(width, height);
      const note = text(what, { name: file.name, size, bytes: formatBytes(blob.size) });
      return { file: new File([blob], name, { type }), note };
    }
    scale *= shrinkStep;
  }
}

async function drawn(bitmap, width, height, type) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  return canvas.convertToBlob({ type, quality: jpegQuality });
}
