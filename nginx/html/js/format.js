const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

// A number and its unit stay on one line.
const space = '\u00a0';

/** `12.3 MB`, from bytes. */
export function formatBytes(bytes) {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power > 0 && value < 100 ? 1 : 0)}${space}${units[power]}`;
}

/** `1:02:03` or `2:03`, from seconds. */
export function formatDuration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const padded = (value) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(whole % 60)}` : `${minutes}:${padded(whole % 60)}`;
}

/** `40 s`, `3 min` or `2 h`: how long something will still take. */
export function formatSeconds(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))}${space}s`;
  return seconds < 5400
    ? `${Math.round(seconds / 60)}${space}min`
    : `${(seconds / 3600).toFixed(1)}${space}h`;
}

/** `2026-01-31` as the reader's language writes it. */
export function formatDate(isoDate) {
  const date = new Date(`${isoDate}T00:00:00Z`);
  return Number.isNaN(date.getTime())
    ? isoDate
    : date.toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
}

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

/** The name that people know a codec by. */
export function codecName(codec) {
  return codecNames.find(([pattern]) => pattern.test(codec))?.[1] ?? codec;
}

export function hostOf(url) {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : '';
}
