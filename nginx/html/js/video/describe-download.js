import { codecName, formatBytes } from '../format.js';

/** What a row says of a download: `1080p`, `MP4`, and a line about size, picture and what is converted. */
export function describeDownload(download, formats) {
  const used = (download.formatIds ?? [])
    .map((id) => formats.find((format) => format.id === id))
    .filter(Boolean);
  const size = sizeOf(download);
  if (download.target === 'mp3') {
    const source = codecIn(used, 'audioCodec');
    const converted = source ? `made from ${source}` : 'converted to MP3';
    const made = download.audio === 'transcode' ? converted : 'unchanged from the page';
    return { title: 'Sound', tag: 'MP3', about: joined([size, made]) };
  }
  const picture = scaledTo(
    download.height,
    used.find((format) => format.width && format.height),
  );
  return {
    title: titleOf(download, picture),
    tag: 'MP4',
    about: joined([size, picture && `${picture.width} × ${picture.height}`, ...parts(download, used)]),
  };
}

/** What is encoded anew may be smaller than what the page has. */
function scaledTo(height, picture) {
  if (!picture || !height || height >= picture.height) return picture;
  return { width: 2 * Math.floor((picture.width * height) / picture.height / 2), height };
}

function sizeOf({ exactBytes, estimatedBytes }) {
  if (typeof exactBytes === 'number') return formatBytes(exactBytes);
  return estimatedBytes === null ? 'size unknown' : `about ${formatBytes(estimatedBytes)}`;
}

/** Lines break between the facts, not inside the short ones. */
function joined(facts) {
  return facts
    .filter(Boolean)
    .map((fact) => (fact.length < 20 ? fact.replaceAll(' ', '\u00a0') : fact))
    .join(' · ');
}

/** By the smaller side, as video sites name sizes: a portrait video of 1080 × 1920 is 1080p. */
function titleOf({ height }, picture) {
  const lines = picture ? Math.min(picture.width, picture.height) : height;
  return lines ? `${lines}p` : 'Video';
}

function parts({ video, audio, plays }, used) {
  const picture = codecIn(used, 'videoCodec');
  const sound = codecIn(used, 'audioCodec');
  const kept = [video !== 'transcode' && video && picture, audio !== 'transcode' && audio && sound];
  return [
    kept.filter(Boolean).join(' and '),
    video === 'transcode' && `picture converted from ${picture ?? 'another format'}`,
    audio === 'transcode' && `sound converted from ${sound ?? 'another format'}`,
    !audio && 'no sound',
    (plays === 'newer players' || plays === 'some players') && `for ${plays}`,
  ];
}

function codecIn(used, kind) {
  const codec = used.map((format) => format[kind]).find(Boolean);
  return codec ? codecName(codec) : undefined;
}
