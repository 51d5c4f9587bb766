import { formatBytes } from '../format.js';

const accepted = new Set(['JPEG', 'PNG', 'WebP']);
const headBytes = 64;
const convert = 'Open it in a program that shows it and save it as JPEG or PNG, then choose that copy.';
const advice = {
  HEIC: 'On an iPhone, share it as “Most Compatible”, or choose that under Settings › Camera › Formats; elsewhere save it as JPEG.',
  PDF: 'Save the page or picture inside it as JPEG or PNG, then choose that file.',
  SVG: 'A drawing has no background to remove; for its picture, export it as PNG.',
  video: 'Take a still picture out of it (a screenshot, for example), then choose that.',
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
  const text = String.fromCharCode(...bytes);
  const match = signatures.find(([, ...parts]) =>
    parts.every(([offset, start]) => text.startsWith(start, offset)),
  );
  if (match) return match[0];
  return /^\s*<(\?xml|svg|!doctype svg)/i.test(text) ? 'SVG' : undefined;
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
  if (file.size === 0) return problem('This file is empty', `“${file.name}” has no content.`, 'missing-file');
  const type = await typeOf(file);
  if (!accepted.has(type)) {
    return problem(titleFor(type), `“${file.name}”: ${advice[type] ?? convert}`, 'unsupported-media-type');
  }
  if (maxFileBytes !== undefined && file.size > maxFileBytes) {
    return problem(
      'This image is too large',
      `“${file.name}” has ${formatBytes(file.size)}; up to ${formatBytes(maxFileBytes)} can be sent. Save it smaller, or as JPEG.`,
      'file-too-large',
    );
  }
  return undefined;
}

/** The same for an image whose size in pixels is known by now. */
export function problemWithPixels(name, width, height, { maxPixels }) {
  if (maxPixels === undefined || width * height <= maxPixels) return undefined;
  const millions = (pixels) => `${Math.round(pixels / 1e5) / 10} million`;
  return problem(
    'This image has too many pixels',
    `“${name}” has ${width} × ${height} (${millions(width * height)}); up to ${millions(maxPixels)} can be sent. Scale it down.`,
    'image-too-large',
  );
}

function titleFor(type) {
  if (type === undefined) return 'This is not an image that can be read';
  if (type === 'video') return 'This is a video, not an image';
  return `This is ${type === 'AVIF' || type === 'SVG' ? 'an' : 'a'} ${type} file`;
}

function problem(title, detail, anchor) {
  return { title, detail, type: `docs/errors#${anchor}`, retryable: false };
}
