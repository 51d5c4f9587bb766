import { isolated, locale } from './texts.js';

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** Formats bytes as `12.3 MB`, without decimals if `isRound`. */
export function formatBytes(/** @type {number} */ bytes, { isRound = false } = {}) {
  const { value, unit, digits } = scaled(bytes);
  /** @type {Intl.NumberFormatOptions} */
  const options = { unitDisplay: unit === 'byte' ? 'long' : 'short' };
  return measured(value, unit, options, isRound ? 0 : digits);
}

function scaled(/** @type {number} */ bytes) {
  const power = bytes < 1000 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return { value, unit: byteUnits[power], digits: power > 0 && value < 9.95 ? 1 : 0 };
}

/**
 * A number and its unit stay on one line.
 * @param {number} value @param {string} unit @param {Intl.NumberFormatOptions} options
 */
function measured(value, unit, options, digits = 0) {
  /** @type {Intl.NumberFormatOptions} */
  const style = { style: 'unit', unit, minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, { ...style, ...options }).format(value).replaceAll(' ', '\u00a0');
}

/** Formats seconds as `1:02:03` or `2:03`. Keeps fractions. */
export function formatDuration(/** @type {number} */ seconds) {
  const tenths = Math.max(0, Math.round(seconds * 10));
  const whole = Math.floor(tenths / 10);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const padded = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const start = hours > 0 ? `${hours}:${padded(minutes)}` : String(minutes);
  const fraction = tenths % 10 === 0 ? '' : `.${tenths % 10}`;
  return `${start}:${padded(whole % 60)}${fraction}`;
}

/** Formats a remaining time as `40 seconds`, `3 minutes` or `1.5 hours`. */
export function formatSeconds(/** @type {number} */ seconds) {
  /** @type {Intl.NumberFormatOptions} */
  const options = { unitDisplay: 'long' };
  if (seconds < 60) return measured(Math.max(1, Math.round(seconds)), 'second', options);
  return seconds < 5400
    ? measured(Math.round(seconds / 60), 'minute', options)
    : measured(seconds / 3600, 'hour', options, 1);
}

/** Formats a share (0-1) as `42%`. */
export function formatPercent(/** @type {number} */ share) {
  return new Intl.NumberFormat(locale, { style: 'percent' }).format(share);
}

/** Formats a large number in words: `60 million`. */
export function formatCount(/** @type {number} */ value) {
  /** @type {Intl.NumberFormatOptions} */
  const options = { notation: 'compact', compactDisplay: 'long', maximumFractionDigits: 1 };
  return new Intl.NumberFormat(locale, options).format(value).replaceAll(' ', '\u00a0');
}

/** Formats a number with a fixed number of decimals. */
export function formatDecimal(/** @type {number} */ value, /** @type {number} */ digits) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, options).format(value);
}

/** `1600 × 1200`, in this order in every script. */
export function formatSize(/** @type {number} */ width, /** @type {number} */ height) {
  return isolated(`${width} × ${height}`, '\u2066');
}

/** Formats `2026-01-31` in the page's language. */
export function formatDate(/** @type {string} */ isoDate) {
  const date = new Date(`${isoDate}T00:00:00Z`);
  return Number.isNaN(date.getTime())
    ? isoDate
    : date.toLocaleDateString(locale, { dateStyle: 'medium', timeZone: 'UTC' });
}

/** @type {[RegExp, string][]} */
const codecNames = [
  [/^(avc|h264)/i, 'H.264'],
  [/^(hev|hvc|h265|dvh)/i, 'HEVC'],
  [/^(av01|av1)/i, 'AV1'],
  [/^(vp09|vp9)/i, 'VP9'],
  [/^(vp08|vp8)/i, 'VP8'],
  [/^theora/i, 'Theora'],
  [/^(mp3|mp4a\.(6b|69|40\.34))/i, 'MP3'],
  [/^(mp4a|aac)/i, 'AAC'],
  [/^opus/i, 'Opus'],
  [/^vorbis/i, 'Vorbis'],
  [/^flac/i, 'FLAC'],
  [/^(ac-?3|ec-?3|eac3)/i, 'Dolby'],
];

/** The common name of a codec. */
export function codecName(/** @type {string} */ codec) {
  return codecNames.find(([pattern]) => pattern.test(codec))?.[1] ?? codec;
}

export function hostOf(/** @type {string} */ url) {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : '';
}
