import { formatBytes, formatCount, formatSize } from '../format.js';
import { text } from '../texts.js';

/** @typedef {import('../connection.js').ImageLimits} Limits as far as they are known */
/** @typedef {import('../problem.js').Problem} Problem */

const jpegQuality = 0.92;
const shrinkStep = 0.8;
const sampleSide = 256;
/** Rounding alone makes colour spaces differ by this much, of 255. */
const gamutTolerance = 4;

/**
 * Makes a file acceptable for the service: converts types that only the browser can read, and
 * shrinks files above a limit.
 * @param {File} file @param {Limits} limits
 * @returns {Promise<{ file?: File, isTransparent?: boolean, note?: string, problem?: Problem }>} no note if unchanged
 */
export async function prepareFile(file, limits) {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    // A folder, or a file that is gone or that the browser may not read.
    const detail = text('file.unreadableDetail', { name: file.name });
    return { problem: problem(text('file.unreadable'), detail, 'unreadable-image') };
  }
  const refusal = await problemWithFile(file, limits);
  const bitmap = await decoded(file);
  if (bitmap === undefined) return refusal ? { problem: refusal } : { file };
  try {
    const isTransparent = hasTransparency(bitmap);
    const tooManyPixels = problemWithPixels(file.name, bitmap.width, bitmap.height, limits);
    if (refusal === undefined && tooManyPixels === undefined) return { file, isTransparent };
    return { ...(await converted(file, bitmap, limits)), isTransparent };
  } finally {
    bitmap.close();
  }
}

async function decoded(/** @type {File} */ file) {
  if (file.size === 0 || file.type.startsWith('video/')) return undefined;
  try {
    return await createImageBitmap(file);
  } catch {
    // The browser can't decode it; the service decides about its own types.
    return undefined;
  }
}

/** @param {File} file @param {ImageBitmap} bitmap @param {Limits} limits */
async function converted(file, bitmap, { imageMaxBytes = Infinity, imageMaxPixels = Infinity }) {
  // JPEG has no transparency; WebP keeps it.
  const type =
    file.type === 'image/jpeg' || /\.(jpe?g|hei[cf])$/i.test(file.name) ? 'image/jpeg' : 'image/webp';
  const pixels = bitmap.width * bitmap.height;
  let scale = Math.min(1, Math.sqrt(imageMaxPixels / pixels));
  for (;;) {
    const [width, height] = [bitmap.width, bitmap.height].map((side) =>
      Math.max(1, Math.floor(side * scale)),
    );
    const blob = await drawn(bitmap, width, height, type);
    if (blob.size <= imageMaxBytes || width * height === 1) {
      const name = `${file.name.replace(/\.[^.]*$/, '')}.${type === 'image/jpeg' ? 'jpg' : 'webp'}`;
      const what = isAccepted(await typeOf(file)) ? 'image.madeSmaller' : 'image.converted';
      const size = formatSize(width, height);
      const note = text(what, { name: file.name, size, bytes: formatBytes(blob.size) });
      return { file: new File([blob], name, { type }), note };
    }
    scale *= shrinkStep;
  }
}

/** @param {ImageBitmap} bitmap @param {number} width @param {number} height @param {string} type */
async function drawn(bitmap, width, height, type) {
  const colorSpace = exceedsSrgb(bitmap) ? 'display-p3' : 'srgb';
  const { canvas } = drawnTo(bitmap, width, height, { colorSpace });
  return canvas.convertToBlob({ type, quality: jpegQuality });
}

/**
 * @param {ImageBitmap} bitmap @param {number} width @param {number} height
 * @param {CanvasRenderingContext2DSettings} options
 */
function drawnTo(bitmap, width, height, options) {
  const context = new OffscreenCanvas(width, height).getContext('2d', options);
  if (context === null) throw new Error('This browser can’t draw so large an image');
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  return context;
}

/** Whether a small copy has transparent pixels. */
function hasTransparency(/** @type {ImageBitmap} */ bitmap) {
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.min(side, sampleSide));
  const { data } = drawnTo(bitmap, width, height, {}).getImageData(0, 0, width, height);
  return data.some((value, at) => at % 4 === 3 && value < 255);
}

/** Whether an image has colours that sRGB would cut off: in a small copy, the two colour spaces differ. */
function exceedsSrgb(/** @type {ImageBitmap} */ bitmap) {
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.min(side, sampleSide));
  const [wide, narrow] = /** @type {const} */ (['display-p3', 'srgb']).map(
    (colorSpace) =>
      drawnTo(bitmap, width, height, { colorSpace, alpha: false }).getImageData(0, 0, width, height, {
        colorSpace: 'display-p3',
      }).data,
  );
  return wide.some((value, at) => Math.abs(value - narrow[at]) > gamutTolerance);
}

const isAccepted = (/** @type {string | undefined} */ type) => /^(JPEG|PNG|WebP)$/.test(type ?? '');
const headBytes = 64;
/** @type {Record<string, string>} */
const advice = {
  HEIC: 'file.adviceHEIC',
  PDF: 'file.advicePDF',
  SVG: 'file.adviceSVG',
  video: 'file.adviceVideo',
};

/** File types by signature: pairs of an offset and bytes as Latin-1 text. @type {[string, ...[number, string][]][]} */
const signatures = [
  ['JPEG', [0, '\xff\xd8\xff']],
  ['PNG', [0, '\x89PNG\r\n\x1a\n']],
  ['WebP', [0, 'RIFF'], [8, 'WEBP']],
  ['GIF', [0, 'GIF8']],
  ['BMP', [0, 'BM']],
  ['TIFF', [0, 'II*\0']],
  ['TIFF', [0, 'MM\0*']],
  ['PDF', [0, '%PDF-']],
  ['Photoshop', [0, '8BPS']],
  ['JPEG XL', [0, '\xff\x0a']],
  ['JPEG XL', [4, 'JXL ']],
  ['JPEG 2000', [4, 'jP  ']],
  ['AVIF', [4, 'ftypavi']],
  ['HEIC', [4, 'ftyphe']],
  ['HEIC', [4, 'ftypmif1']],
  ['HEIC', [4, 'ftypmsf1']],
  ['video', [4, 'ftyp']],
  ['video', [0, '\x1a\x45\xdf\xa3']],
];

/** The common name of a file's type, detected by its content; undefined if unknown. */
async function typeOf(/** @type {File} */ file) {
  const bytes = await file.slice(0, headBytes).arrayBuffer();
  const start = String.fromCharCode(...new Uint8Array(bytes));
  const match = signatures.find(([, ...parts]) =>
    parts.every(([offset, expected]) => start.startsWith(expected, offset)),
  );
  if (match) return match[0];
  return /^\s*<(\?xml|svg|!doctype svg)/i.test(start) ? 'SVG' : undefined;
}

/**
 * Checks a file before sending it.
 * @param {File} file @param {Limits} limits
 * @returns {Promise<Problem | undefined>}
 */
async function problemWithFile(file, { imageMaxBytes }) {
  const { name } = file;
  if (file.size === 0) {
    return problem(text('file.empty'), text('file.emptyDetail', { name }), 'missing-file');
  }
  const type = await typeOf(file);
  if (!isAccepted(type)) {
    const detail = text('file.named', { name, advice: text(advice[type ?? ''] ?? 'file.convert') });
    return problem(titleForType(type), detail, 'unsupported-media-type');
  }
  if (imageMaxBytes !== undefined && file.size > imageMaxBytes) {
    const [size, limit] = [formatBytes(file.size), formatBytes(imageMaxBytes)];
    const detail = text('file.tooLargeDetail', { name, size, limit });
    return problem(text('file.tooLarge'), detail, 'file-too-large');
  }
  return undefined;
}

/** The same check for an image whose size in pixels is known. */
function problemWithPixels(
  /** @type {string} */ name,
  /** @type {number} */ width,
  /** @type {number} */ height,
  /** @type {Limits} */ { imageMaxPixels },
) {
  if (imageMaxPixels === undefined || width * height <= imageMaxPixels) return undefined;
  const size = formatSize(width, height);
  const [count, limit] = [formatCount(width * height), formatCount(imageMaxPixels)];
  const detail = text('file.tooManyPixelsDetail', { name, size, count, limit });
  return problem(text('file.tooManyPixels'), detail, 'image-too-large');
}

function titleForType(/** @type {string | undefined} */ type) {
  if (type === undefined) return text('file.unknown');
  return type === 'video' ? text('file.video') : text('file.type', { type });
}

/** @returns {Problem} */
function problem(/** @type {string} */ title, /** @type {string} */ detail, /** @type {string} */ anchor) {
  return { title, detail, type: `docs/errors#${anchor}`, retryable: false };
}
