import { codecName, formatBytes } from '../format.js';

/** What the page says about a download: `1080p`, `MP4`, and a line about its size and what is converted. */
export function describeDownload(download, formats) {
  const used = (download.formatIds ?? [])
    .map((id) => formats.find((format) => format.id === id))
    .filter(Boolean);
  const size = sizeOf(download);
  if (download.target === 'mp3') {
    const source = codecIn(used, 'audioCodec');
    const converted = source ? `made from ${source}` : 'converted to MP3';
    const made = download.audio === 'transcode' ? converted : 'unchanged from the page';
    return { title: 'Audio', tag: 'MP3', about: joined([size, made]) };
  }
  const frame = scaledTo(
    download.height,
    used.find((format) => format.width && format.height),
  );
  return {
    title: titleOf(download, frame),
    tag: 'MP4',
    about: joined([size, frame && `${frame.width} × ${frame.height}`, ...parts(download, used)]),
  };
}

/** A converted video may be smaller than the original. */
function scaledTo(height, picture) {
  if (!picture || !height || height >= picture.height) return picture;
  return { width: 2 * Math.floor((picture.width * height) / picture.height / 2), height };
}

function sizeOf({ exactBytes, estimatedBytes }) {
  if (typeof exactBytes === 'number') return formatBytes(exactBytes);
  return estimatedBytes === null ? 'size unknown' : `about ${formatBytes(estimatedBytes)}`;
}

/** Lines break between the facts, not within the short ones. */
function joined(facts) {
  return facts
    .filter(Boolean)
    .map((fact) => (fact.length < 20 ? fact.replaceAll(' ', '\u00a0') : fact))
    .join(' · ');
}

/** Video sites name sizes by the smaller side: a portrait video of 1080 × 1920 is 1080p. */
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
    video === 'transcode' && `video converted from ${picture ?? 'another format'}`,
    audio === 'transcode' && `audio converted from ${sound ?? 'another format'}`,
    !audio && 'no audio',
    (plays === 'newer players' || plays === 'some players') && `for ${plays}`,
  ];
}

function codecIn(used, kind) {
  const codec = used.map((format) => format[kind]).find(Boolean);
  return codec ? codecName(codec) : undefined;
}
