import { formatBytes, formatSize } from '../format.js';
import { text } from '../texts.js';

const accepted = new Set(['JPEG', 'PNG', 'WebP']);
const headBytes = 64;
const advice = {
  HEIC: 'file.adviceHEIC',
  PDF: 'file.advicePDF',
  SVG: 'file.adviceSVG',
  video: 'file.adviceVideo',
};

/** Types by what their files begin with: pairs of an offset and bytes as Latin-1 text. */
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

/** What a file is by its content, in the words people use; undefined where it is none of the known ones. */
function typeOfBytes(bytes) {
  const start = String.fromCharCode(...bytes);
  const match = signatures.find(([, ...parts]) =>
    parts.every(([offset, expected]) => start.startsWith(expected, offset)),
  );
  if (match) return match[0];
  return /^\s*<(\?xml|svg|!doctype svg)/i.test(start) ? 'SVG' : undefined;
}

/** Whether the service accepts the type of a file, by its content. */
export async function canBeSent(file) {
  return accepted.has(await typeOf(file));
}

async function typeOf(file) {
  return typeOfBytes(new Uint8Array(await file.slice(0, headBytes).arrayBuffer()));
}

/**
 * What keeps a file from being cut out, found before anything of it is sent.
 * @param limits `maxFileBytes` where it is known
 * @returns a problem as in problem.js, or undefined
 */
export async function problemWithFile(file, { maxFileBytes }) {
  const { name } = file;
  if (file.size === 0) {
    return problem(text('file.empty'), text('file.emptyDetail', { name }), 'missing-file');
  }
  const type = await typeOf(file);
  if (!accepted.has(type)) {
    const detail = text('file.named', { name, advice: text(advice[type] ?? 'file.convert') });
    return problem(titleFor(type), detail, 'unsupported-media-type');
  }
  if (maxFileBytes !== undefined && file.size > maxFileBytes) {
    const [size, limit] = [formatBytes(file.size), formatBytes(maxFileBytes)];
    const detail = text('file.tooLargeDetail', { name, size, limit });
    return problem(text('file.tooLarge'), detail, 'file-too-large');
  }
  return undefined;
}

/** The same for an image whose size in pixels is known by now. */
export function problemWithPixels(name, width, height, { maxPixels }) {
  if (maxPixels === undefined || width * height <= maxPixels) return undefined;
  const size = formatSize(width, height);
  const [millions, limit] = [(width * height) / 1e6, maxPixels / 1e6];
  const detail = text('file.tooManyPixelsDetail', { name, size, millions, limit });
  return problem(text('file.tooManyPixels'), detail, 'image-too-large');
}

function titleFor(type) {
  if (type === undefined) return text('file.unknown');
  return type === 'video' ? text('file.video') : text('file.type', { type });
}

function problem(title, detail, anchor) {
  return { title, detail, type: `docs/errors#${anchor}`, retryable: false };
}
