import { z } from 'zod';
import type { ExtractorArguments } from './extractor-arguments.js';
import type { Target } from './types.js';

/** A format choice in yt-dlp's own words. */
export interface TargetSpec {
  readonly format: string;
  readonly sort: readonly string[];
}

/** A job for the download engine (`engine/download_engine/jobs.py`). */
export type EngineJob =
  | { readonly kind: 'health' }
  | {
      readonly kind: 'extract';
      readonly url: string;
      readonly proxyUrl: string;
      readonly socketTimeoutSeconds: number;
      readonly targets: Readonly<Record<Target, TargetSpec>>;
      /** Of the operator, as yt-dlp's option takes them. */
      readonly extractorArguments?: ExtractorArguments;
      /** Contents of a Netscape cookie file. */
      readonly cookies?: string;
    };

/** The original before a dub, the plain before a described or compressed one, what MP4 carries before the rest. */
const sound = ['lang', 'quality', 'acodec:aac'];

/**
 * What yt-dlp's selector is asked for. `res` is the smaller side, so portrait
 * video counts like landscape; a sort prefers where a filter (`[height<=720]`)
 * would leave nothing on a page that offers only larger sizes.
 */
export const targetSpecs: Readonly<Record<Target, TargetSpec>> = {
  // An MP3 is passed on as it is. A page without audio-only formats gives a small video: only its sound is used.
  mp3: {
    format: 'ba[acodec^=mp3]/ba/b',
    sort: ['res:480', 'lang', 'quality', 'acodec:aac', 'proto', 'abr'],
  },
  'mp4-720': { format: 'bv*+ba/b', sort: ['res:720', 'vcodec:h264', ...sound] },
  'mp4-1080': { format: 'bv*+ba/b', sort: ['res:1080', 'vcodec:h264', ...sound] },
};

/** The most that an answer holds: the figures of `engine/download_engine/limits.py`. */
const most = {
  formats: 500,
  playlistCharacters: 2 * 1024 ** 2,
  headers: 50,
  warnings: 20,
  kinds: 60,
  causes: 10,
  textCharacters: 1_000,
  messageCharacters: 2_000,
  descriptionCharacters: 20_000,
  urlCharacters: 8_192,
  headerCharacters: 8_192,
  cookieCharacters: 16_384,
};

const text = z.string().max(most.textCharacters).nullable();
const url = z.string().max(most.urlCharacters);
const number = z.number().nullable();
const message = z.string().max(most.messageCharacters);
const warnings = z.array(z.string().max(most.messageCharacters)).max(most.warnings).default([]);

const headers = z
  .record(z.string().max(most.textCharacters), z.string().max(most.headerCharacters))
  .refine((record) => Object.keys(record).length <= most.headers, { error: 'has too many headers' });

const rawFormatSchema = z.object({
  format_id: text,
  format_note: text,
  ext: text,
  protocol: text,
  url,
  vcodec: text,
  acodec: text,
  width: number,
  height: number,
  fps: number,
  tbr: number,
  vbr: number,
  abr: number,
  filesize: number,
  filesize_approx: number,
  /** Unix seconds before which the server refuses (advertisements come first). */
  available_at: number,
  http_headers: headers,
  cookies: z.string().max(most.cookieCharacters).nullable(),
  http_chunk_size: number,
  /** What yt-dlp's downloader of HLS and DASH is told beside the URL. */
  extra_param_to_segment_url: z.string().max(most.urlCharacters).nullish(),
  extra_param_to_key_url: z.string().max(most.urlCharacters).nullish(),
  hls_aes: z.object({ uri: url.nullish(), key: text.optional(), iv: text.optional() }).nullish(),
  hls_media_playlist_data: z.string().max(most.playlistCharacters).nullish(),
});

const indices = z.array(z.number().int().nonnegative()).max(2);

const extractionSchema = z.object({
  kind: z.literal('extraction'),
  id: text,
  title: text,
  description: z.string().max(most.descriptionCharacters).nullable(),
  duration: number,
  uploader: text,
  channel: text,
  creator: text,
  artist: text,
  webpage_url: url.nullable(),
  extractor: text,
  upload_date: text,
  live_status: text,
  is_live: z.boolean(),
  thumbnail: url.nullable(),
  playlist_index: number,
  playlist_count: number,
  formats: z.array(rawFormatSchema).max(most.formats),
  selections: z.object({ mp3: indices, 'mp4-720': indices, 'mp4-1080': indices }),
  warnings,
});

/** What the engine says of itself. */
const descriptionSchema = z.object({
  version: z.string(),
  ageDays: z.number().nullable(),
  javascriptRuntime: z.string().nullable(),
  /** `kernel`: the system holds the engine and its children to their ports; `process`: only its own code does. */
  networkLock: z.enum(['kernel', 'process']),
  /** Version of the PO token plugin; null where there is no provider or the plugin cannot be loaded. */
  potProvider: z.string().nullable(),
});

export const engineReadySchema = descriptionSchema;
export const engineResultSchema = z.discriminatedUnion('kind', [
  extractionSchema,
  descriptionSchema.extend({ kind: z.literal('health') }),
]);

/** Why the engine failed a job: what yt-dlp raised. */
export const engineFailureSchema = z.object({
  kind: z.string(),
  /** Class names of the exception, its bases and its causes. */
  kinds: z.array(z.string()).max(most.kinds).default([]),
  message,
  httpStatus: z.number().nullish(),
  causes: z.array(message).max(most.causes).default([]),
  warnings,
});

export type EngineReady = z.output<typeof engineReadySchema>;
export type EngineResult = z.output<typeof engineResultSchema>;
export type EngineFailure = z.output<typeof engineFailureSchema>;
export type RawExtraction = z.output<typeof extractionSchema>;
export type RawFormat = z.output<typeof rawFormatSchema>;
