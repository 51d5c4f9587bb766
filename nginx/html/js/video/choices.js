import { codecName, formatBytes, formatSize } from '../format.js';
import { joined, text } from '../texts.js';
import { chosenIn, nameOf } from './languages.js';

/** @typedef {import('./look-up.js').Info} Info */
/** @typedef {import('./look-up.js').Offer} Offer */
/** @typedef {import('./look-up.js').Format} Format */
/** @typedef {import('./look-up.js').Language} Language */
/**
 * One download of a page, in plain words.
 * @typedef {object} Choice
 * @property {'video' | 'small' | 'sound' | 'original' | 'text'} id
 * @property {string} href
 * @property {string} name for example “Sound only”
 * @property {string} facts its size and quality
 * @property {string} details the same, for people who know codecs
 * @property {string} extension
 * @property {number | undefined} bytes
 * @property {boolean} isExact
 */

/** The choices of a page: the best video, the sound, smaller videos, the original sound, the subtitles. */
export function choicesOf(/** @type {Info} */ info) {
  const { formats } = info;
  const audio = chosenIn(info, 'audioLanguages');
  const subtitles = chosenIn(info, 'subtitles');
  const offers = withoutDuplicates(info.downloads).map((offer) =>
    inLanguages(offer, formats, audio, subtitles),
  );
  const videos = offers.filter(({ target }) => target !== 'mp3').sort((a, b) => lines(b) - lines(a));
  const sound = offers.find(({ target }) => target === 'mp3');
  const [best, ...smaller] = videos;
  const choices = [
    best && videoChoice(best, formats, smaller.length > 0, subtitles),
    sound && soundChoice(sound, formats),
    ...smaller.map((offer) => ({
      ...videoChoice(offer, formats, false, subtitles),
      id: 'small',
      name: text('choice.small'),
    })),
    audio === undefined && originalChoice(info),
  ];
  const found = /** @type {Choice[]} */ (choices.filter(Boolean));
  const named = found.map(({ name, ...choice }) => ({
    ...choice,
    name: audio ? text('choice.part', { name, part: nameOf(audio) }) : name,
  }));
  const asText = textChoice(info, subtitles);
  return asText ? [...named, asText] : named;
}

/**
 * The server describes downloads in the page's own language, and without subtitles.
 * @returns {Offer}
 * @param {Offer} offer @param {Format[]} formats
 * @param {Language | undefined} audio @param {Language | undefined} subtitles
 */
function inLanguages(offer, formats, audio, subtitles) {
  const asked = {
    ...(audio && { lang: audio.language }),
    ...(subtitles && offer.target !== 'mp3' && { subtitles: subtitles.language }),
  };
  if (Object.keys(asked).length === 0) return offer;
  const formatIds = offer.formatIds.filter((id) => formats.find((format) => format.id === id)?.videoCodec);
  return {
    ...offer,
    href: `${offer.href}&${new URLSearchParams(asked)}`,
    exactBytes: null,
    formatIds: audio ? formatIds : offer.formatIds,
  };
}

/** @returns {Choice | undefined} */
function textChoice(/** @type {Info} */ { downloads }, /** @type {Language | undefined} */ subtitles) {
  const sound = downloads.find(({ target }) => target === 'mp3');
  if (sound === undefined || subtitles === undefined) return undefined;
  const asked = new URLSearchParams({ fmt: 'srt', subtitles: subtitles.language });
  return {
    ...{ id: 'text', name: text('spoken.text'), extension: 'srt', href: `${sound.href}&${asked}` },
    ...{ bytes: undefined, isExact: false, facts: joined([nameOf(subtitles), 'SRT']), details: 'SRT' },
  };
}

/** Two targets give the same file if a page has only one size. */
function withoutDuplicates(/** @type {Offer[]} */ offers) {
  /** @type {Map<string, Offer>} */
  const byContent = new Map();
  for (const offer of offers) {
    const { target, formatIds, video, audio } = offer;
    const key = JSON.stringify([target === 'mp3', formatIds, video, audio]);
    if (!byContent.has(key)) byContent.set(key, offer);
  }
  return [...byContent.values()];
}

function lines(/** @type {Offer} */ { target, height }) {
  return height ?? Number(target.replace('mp4-', ''));
}

/**
 * @returns {Choice}
 * @param {Offer} offer @param {Format[]} formats @param {boolean} isBest
 * @param {Language | undefined} subtitles
 */
function videoChoice(offer, formats, isBest, subtitles) {
  const used = formatsOf(offer, formats);
  const frame = scaledTo(
    offer.height,
    used.find((format) => format.width && format.height),
  );
  // Video sites name sizes by the smaller side: a portrait video of 1080 × 1920 is 1080p.
  const side = frame?.width && frame.height ? Math.min(frame.width, frame.height) : offer.height;
  const facts = [
    sizeOf(offer),
    side && `${side}p`,
    isBest && text('choice.best'),
    subtitles && text('spoken.subtitled'),
    !offer.audio && text('offer.noAudio'),
    offer.plays === 'newer players' && text('offer.newerPlayers'),
    offer.plays === 'some players' && text('offer.somePlayers'),
  ];
  const size = frame?.width && frame.height && formatSize(frame.width, frame.height);
  return {
    ...{ id: 'video', name: text('choice.video'), extension: 'mp4', href: offer.href },
    ...bytesOf(offer),
    facts: joined(facts),
    details: joined(['MP4', size, ...codecs(offer, used)]),
  };
}

/** @returns {Choice} */
function soundChoice(/** @type {Offer} */ offer, /** @type {Format[]} */ formats) {
  const source = codecIn(formatsOf(offer, formats), 'audioCodec');
  const converted = source ? text('offer.madeFrom', { codec: source }) : text('offer.converted');
  return {
    ...{ id: 'sound', name: text('choice.sound'), extension: 'mp3', href: offer.href },
    ...bytesOf(offer),
    facts: joined([sizeOf(offer), 'MP3']),
    details: joined(['MP3', offer.audio === 'transcode' ? converted : text('offer.unchanged')]),
  };
}

/** @returns {Choice | undefined} */
function originalChoice(/** @type {Info} */ { downloads, originalAudio }) {
  if (!originalAudio) return undefined;
  const { container, codec, href } = originalAudio;
  const mp3 = downloads.find(({ target }) => target === 'mp3');
  // The MP3 is the original already.
  if (container === 'mp3' && mp3 !== undefined && mp3.audio !== 'transcode') return undefined;
  const tag = container.toUpperCase();
  return {
    ...{ id: 'original', name: text('offer.original'), extension: container, href },
    ...bytesOf(originalAudio),
    facts: joined([sizeOf(originalAudio), tag]),
    details: joined([tag, codec && codecName(codec), text('offer.unchanged')]),
  };
}

function formatsOf(/** @type {Offer} */ { formatIds }, /** @type {Format[]} */ formats) {
  return (formatIds ?? []).flatMap((id) => formats.find((format) => format.id === id) ?? []);
}

/** A converted video may be smaller than the original. */
function scaledTo(/** @type {number | undefined} */ height, /** @type {Format | undefined} */ picture) {
  if (!picture?.height || !picture.width || !height || height >= picture.height) return picture;
  return { width: 2 * Math.floor((picture.width * height) / picture.height / 2), height };
}

/** @typedef {{ estimatedBytes: number | null, exactBytes?: number | null }} Sized */

function bytesOf(/** @type {Sized} */ { estimatedBytes, exactBytes }) {
  const isExact = typeof exactBytes === 'number';
  return { bytes: (isExact ? exactBytes : estimatedBytes) ?? undefined, isExact };
}

function sizeOf(/** @type {Sized} */ sized) {
  const { bytes, isExact } = bytesOf(sized);
  if (bytes === undefined) return text('offer.sizeUnknown');
  const size = formatBytes(bytes);
  return isExact ? size : text('offer.sizeAbout', { size });
}

function codecs(/** @type {Offer} */ { video, audio }, /** @type {Format[]} */ used) {
  const picture = codecIn(used, 'videoCodec');
  const sound = codecIn(used, 'audioCodec');
  const kept = [video !== 'transcode' && video && picture, audio !== 'transcode' && audio && sound];
  const [first, second] = kept.filter((codec) => typeof codec === 'string');
  return [
    first && second ? text('offer.codecs', { video: first, audio: second }) : first,
    video === 'transcode' &&
      (picture ? text('offer.videoConverted', { codec: picture }) : text('offer.videoConvertedUnknown')),
    audio === 'transcode' &&
      (sound ? text('offer.audioConverted', { codec: sound }) : text('offer.audioConvertedUnknown')),
  ];
}

function codecIn(/** @type {Format[]} */ used, /** @type {'videoCodec' | 'audioCodec'} */ kind) {
  const codec = used.map((format) => format[kind]).find(Boolean);
  return codec && codecName(codec);
}
