import { codecName, formatBytes, formatSize } from '../format.js';
import { joined, text } from '../texts.js';

/** Describes a download: `1080p`, `MP4`, and a line about its size and conversion. */
export function describeDownload(download, formats) {
  const used = (download.formatIds ?? [])
    .map((id) => formats.find((format) => format.id === id))
    .filter(Boolean);
  const size = sizeOf(download);
  if (download.target === 'original') {
    const codec = download.codec && codecName(download.codec);
    const about = line([size, codec, text('offer.unchanged')]);
    return { title: text('offer.original'), tag: download.container.toUpperCase(), about };
  }
  if (download.target === 'mp3') {
    const source = codecIn(used, 'audioCodec');
    const converted = source ? text('offer.madeFrom', { codec: source }) : text('offer.converted');
    const made = download.audio === 'transcode' ? converted : text('offer.unchanged');
    return { title: text('offer.audio'), tag: 'MP3', about: line([size, made]) };
  }
  const frame = scaledTo(
    download.height,
    used.find((format) => format.width && format.height),
  );
  return {
    title: titleOf(download, frame),
    tag: 'MP4',
    about: line([size, frame && formatSize(frame.width, frame.height), ...parts(download, used)]),
  };
}

/** A converted video may be smaller than the original. */
function scaledTo(height, picture) {
  if (!picture || !height || height >= picture.height) return picture;
  return { width: 2 * Math.floor((picture.width * height) / picture.height / 2), height };
}

function sizeOf({ exactBytes, estimatedBytes }) {
  if (typeof exactBytes === 'number') return formatBytes(exactBytes);
  return estimatedBytes === null
    ? text('offer.sizeUnknown')
    : text('offer.sizeAbout', { size: formatBytes(estimatedBytes) });
}

/** Lines break between the facts, not within the short ones. */
function line(facts) {
  return joined(
    facts.filter(Boolean).map((fact) => (fact.length < 15 ? fact.replaceAll(' ', '\u00a0') : fact)),
  );
}

/** Video sites name sizes by the smaller side: a portrait video of 1080 × 1920 is 1080p. */
function titleOf({ height }, picture) {
  const lines = picture ? Math.min(picture.width, picture.height) : height;
  return lines ? `${lines}p` : text('offer.video');
}

function parts({ video, audio, plays }, used) {
  const picture = codecIn(used, 'videoCodec');
  const sound = codecIn(used, 'audioCodec');
  const kept = [video !== 'transcode' && video && picture, audio !== 'transcode' && audio && sound];
  const [first, second] = kept.filter(Boolean);
  return [
    second === undefined ? first : text('offer.codecs', { video: first, audio: second }),
    video === 'transcode' &&
      (picture ? text('offer.videoConverted', { codec: picture }) : text('offer.videoConvertedUnknown')),
    audio === 'transcode' &&
      (sound ? text('offer.audioConverted', { codec: sound }) : text('offer.audioConvertedUnknown')),
    !audio && text('offer.noAudio'),
    plays === 'newer players' && text('offer.newerPlayers'),
    plays === 'some players' && text('offer.somePlayers'),
  ];
}

function codecIn(used, kind) {
  const codec = used.map((format) => format[kind]).find(Boolean);
  return codec ? codecName(codec) : undefined;
}
