import type { Chapter } from '../formats/chapters.js';
import type { HdrTransfer } from '../formats/probed.js';
import { perTarget } from '../targets.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { RawExtraction, RawFormat } from './engine-messages.js';
import { urlExpiry } from './cache.js';
import { languageName } from './languages.js';
import type { Extraction, Format, Section, Subtitles } from './types.js';

/** How long an extraction is reused at most. */
const maxLifeMs = 300_000;

interface ExtractionContext {
  readonly requestUrl: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The outbound proxy that was used. */
  readonly exit: number;
}

/** Converts yt-dlp's fields to the project's names and units. */
export function toExtraction(raw: RawExtraction, context: ExtractionContext): Extraction {
  const formats = raw.formats.map((format, index) => toFormat(format, index, context));
  const pick = (indices: readonly number[]) => indices.flatMap((index) => formats[index] ?? []);
  const selectionsOf = (picked: RawExtraction['selections']) => perTarget((target) => pick(picked[target]));
  const selections = selectionsOf(raw.selections);
  const expiries = Object.values(selections)
    .flat()
    .flatMap(({ source }) => urlExpiry(source.url) ?? []);
  const clip = section(raw);
  // With a section, the page states the duration of the section.
  const durationSeconds = clip === null ? positive(raw.duration) : null;
  return {
    id: raw.id ?? 'video',
    title: cleanTitle(raw.title) ?? cleanTitle(raw.id) ?? 'video',
    thumbnail: webUrl(raw.thumbnail),
    covers: raw.covers.map(webUrl).filter((cover) => cover !== null),
    durationSeconds,
    durationSource: durationSeconds === null ? null : 'page',
    mediaStateWrongLength: false,
    uploader: raw.uploader,
    uploadDate: isoDate(raw.upload_date),
    description: raw.description,
    webpageUrl: webUrl(raw.webpage_url) ?? context.requestUrl,
    extractor: raw.extractor ?? 'generic',
    playlistIndex: raw.playlist_index,
    playlistCount: raw.playlist_count,
    items: raw.items.map(({ title, duration, thumbnail }) => ({
      title: cleanTitle(title),
      durationSeconds: positive(duration),
      thumbnail: webUrl(thumbnail),
    })),
    section: clip,
    chapters: chaptersOf(raw, durationSeconds),
    subtitles: subtitlesOf(raw, context),
    suggestedStartSeconds: clip === null ? (positive(raw.start_time) ?? positive(raw.section_start)) : null,
    formats,
    selections,
    audioLanguages: raw.languages.map(({ language, is_original, selections }) => ({
      language,
      isOriginal: is_original,
      selections: selectionsOf(selections),
    })),
    extractedAt: context.now,
    expiresAt: Math.min(context.now + maxLifeMs, ...expiries),
  };
}

/** yt-dlp's names: HDR10, HDR10+, HDR12, DV and HLG. Everything else is SDR. */
function hdrTransfer(dynamicRange: string | null): HdrTransfer | undefined {
  if (dynamicRange === 'HLG') return 'hlg';
  return dynamicRange !== null && /^(?:HDR|DV)/.test(dynamicRange) ? 'pq' : undefined;
}

function toFormat(raw: RawFormat, index: number, context: ExtractionContext): Format {
  const id = raw.format_id ?? String(index);
  const filesize = raw.filesize ?? raw.filesize_approx;
  const hasVideo = hasStream(raw.vcodec);
  const hasAudio = hasStream(raw.acodec);
  const kbps = positive(raw.tbr);
  const { dash_track: track, hls_aes: aes } = raw;
  return {
    id,
    ext: raw.ext,
    protocol: raw.protocol ?? 'https',
    width: positive(raw.width),
    height: positive(raw.height),
    fps: positive(raw.fps),
    hdr: hasVideo ? hdrTransfer(raw.dynamic_range) : undefined,
    videoCodec: hasVideo === true ? raw.vcodec : null,
    audioCodec: hasAudio === true ? raw.acodec : null,
    hasVideo,
    hasAudio,
    videoBitrateKbps: positive(raw.vbr) ?? (hasAudio === false ? kbps : null),
    audioBitrateKbps: positive(raw.abr) ?? (hasVideo === false ? kbps : null),
    totalBitrateKbps: kbps,
    filesizeBytes: filesize === null ? null : Math.round(filesize),
    filesizeIsEstimate: raw.filesize === null && raw.filesize_approx !== null,
    note: raw.format_note,
    source: {
      origin: { formatId: id, extractedAt: context.now, exit: context.exit },
      url: raw.url,
      headers: raw.http_headers,
      kind: sourceKind(raw),
      cookies: raw.cookies,
      ...(raw.available_at !== null && { availableAt: raw.available_at * 1000 }),
      ...(raw.http_chunk_size !== null && { chunkBytes: raw.http_chunk_size }),
      ...(track !== null && { wanted: { ...track, bandwidth: kbps === null ? null : kbps * 1000 } }),
      ...(raw.extra_param_to_segment_url !== null && { segmentQuery: raw.extra_param_to_segment_url }),
      ...(raw.extra_param_to_key_url !== null && { keyQuery: raw.extra_param_to_key_url }),
      ...(aes !== null && {
        hlsKey: { url: aes.uri, key: hexBytes(aes.key, 0), iv: hexBytes(aes.iv, 16) },
      }),
      ...(raw.hls_media_playlist_data !== null && { playlistText: raw.hls_media_playlist_data }),
    },
  };
}

function sourceKind(raw: RawFormat): MediaSource['kind'] {
  if (raw.dash_track !== null) return 'dash';
  return raw.protocol?.startsWith('m3u8') === true ? 'hls' : 'file';
}

/** @param length to pad to, with leading zeros */
function hexBytes(text: string | null, length: number): Uint8Array | null {
  const digits = /^(?:0x)?([0-9a-f]{1,64})$/i.exec(text ?? '')?.[1];
  return digits === undefined ? null : Buffer.from(digits.padStart(2 * length, '0'), 'hex');
}

/** yt-dlp reports `none` for a missing stream and nothing for one it hasn't examined. */
function hasStream(codec: string | null): boolean | null {
  if (codec === null || codec === 'unknown') return null;
  return codec !== 'none';
}

function subtitlesOf({ subtitles }: RawExtraction, { now, exit }: ExtractionContext): Subtitles[] {
  return subtitles.map(
    ({ language, name, is_automatic, format, is_playlist, url, http_headers, cookies }) => ({
      language,
      label: cleanTitle(name) ?? languageName(language),
      isAutomatic: is_automatic,
      format,
      source: {
        origin: { formatId: `subtitles ${language}`, extractedAt: now, exit },
        url,
        headers: http_headers,
        kind: is_playlist ? 'hls' : 'file',
        cookies,
      },
    }),
  );
}

/** A chapter ends where the next one begins, if not before. */
function chaptersOf({ chapters }: RawExtraction, durationSeconds: number | null): Chapter[] {
  const starts = chapters
    .flatMap(({ title, start, end }) => (start === null || start < 0 ? [] : [{ title, start, end }]))
    .toSorted((a, b) => a.start - b.start);
  return starts.flatMap(({ title, start, end }, index) => {
    const limit = starts[index + 1]?.start ?? durationSeconds;
    const endSeconds = end === null || (limit !== null && limit < end) ? limit : end;
    if (endSeconds !== null && endSeconds <= start) return [];
    return [{ title: cleanTitle(title) ?? `Chapter ${index + 1}`, startSeconds: start, endSeconds }];
  });
}

/** Without an end, it is only a start position. */
function section({ section_start: start, section_end: end }: RawExtraction): Section | null {
  const startSeconds = positive(start) ?? 0;
  return end === null || end <= startSeconds ? null : { startSeconds, endSeconds: end };
}

/** One line without control characters; null if empty. */
function cleanTitle(title: string | null): string | null {
  const clean = title?.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return clean === undefined || clean === '' ? null : clean;
}

function webUrl(url: string | null): string | null {
  return url !== null && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null;
}

/** `20260131` to `2026-01-31`. */
function isoDate(date: string | null): string | null {
  const match = /^(\d{4})(\d{2})(\d{2})$/.exec(date ?? '');
  return match === null ? null : `${match[1] ?? ''}-${match[2] ?? ''}-${match[3] ?? ''}`;
}

function positive(value: number | null): number | null {
  return value !== null && value > 0 ? value : null;
}
