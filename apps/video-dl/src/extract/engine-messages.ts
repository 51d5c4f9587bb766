import { z } from 'zod';
import { subtitleFormats } from '../formats/subtitles/read.js';
import { targets, type FormatSelector, type Target } from '../targets.js';
import type { ExtractorArguments } from './extractor-arguments.js';

/** A job for the download engine (`engine/download_engine/jobs.py`). */
export type EngineJob =
  | { readonly kind: 'health' }
  | {
      readonly kind: 'extract';
      readonly url: string;
      readonly proxyUrl: string;
      readonly socketTimeoutSeconds: number;
      readonly targets: Readonly<Record<Target, FormatSelector>>;
      /** Number of the video on a page with several, from 1; defaults to the first that works. */
      readonly item?: number;
      /** Set by the operator, in the form of yt-dlp's option. */
      readonly extractorArguments?: ExtractorArguments;
      /** Contents of a Netscape cookie file. */
      readonly cookies?: string;
    };

/** Counts code points as Python does. JavaScript's `length` counts an emoji twice. */
const textUpTo = (characters: number) =>
  z.string().refine((value) => value.length <= characters || Array.from(value).length <= characters, {
    error: `has more than ${characters} characters`,
  });

// These limits match those in `limits.py` and `failures.py` of the engine.
const name = textUpTo(1_000);
const text = name.nullable();
const url = textUpTo(8_192);
const number = z.number().nullable();
const message = textUpTo(2_000);
const cookieText = textUpTo(4_096);
const cookies = z
  .array(
    z.object({
      name: cookieText,
      value: cookieText,
      domain: cookieText,
      path: cookieText,
      secure: z.boolean(),
    }),
  )
  .max(100);
const warnings = z.array(message).max(20).default([]);

const headers = z
  .record(name, textUpTo(8_192))
  .refine((record) => Object.keys(record).length <= 50, { error: 'has too many headers' });

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
  dynamic_range: text,
  tbr: number,
  vbr: number,
  abr: number,
  filesize: number,
  filesize_approx: number,
  /** Unix seconds before which the server rejects requests (ads come first). */
  available_at: number,
  http_headers: headers,
  cookies,
  http_chunk_size: number,
  /** The track of the DASH manifest at `url`. */
  dash_track: z.object({ kind: z.enum(['video', 'audio']), id: z.string() }).nullable(),
  /** Extra data that yt-dlp passes to its HLS and DASH downloaders. */
  extra_param_to_segment_url: url.nullable(),
  extra_param_to_key_url: url.nullable(),
  hls_aes: z.object({ uri: url.nullable(), key: url.nullable(), iv: url.nullable() }).nullable(),
  hls_media_playlist_data: textUpTo(1024 * 1024).nullable(),
});

const selections = z.record(z.enum(targets), z.array(z.number().int().nonnegative()).max(2));

const extractionSchema = z.object({
  kind: z.literal('extraction'),
  id: text,
  title: text,
  description: textUpTo(20_000).nullable(),
  duration: number,
  section_start: number,
  section_end: number,
  chapters: z.array(z.object({ title: text, start: number, end: number })).max(250),
  subtitles: z
    .array(
      z.object({
        language: name,
        name: text,
        is_automatic: z.boolean(),
        format: z.enum(subtitleFormats),
        is_playlist: z.boolean(),
        url,
        http_headers: headers,
        cookies,
      }),
    )
    .max(200),
  /** Set by a link with a start time. */
  start_time: number,
  uploader: text,
  webpage_url: url.nullable(),
  extractor: text,
  upload_date: text,
  thumbnail: url.nullable(),
  covers: z.array(url).max(4),
  playlist_index: number,
  playlist_count: number,
  items: z.array(z.object({ title: text, duration: number, thumbnail: url.nullable() })).max(50),
  formats: z.array(rawFormatSchema).max(500),
  selections,
  /** Of the audio. */
  languages: z
    .array(
      z.object({
        language: name,
        is_original: z.boolean(),
        selections,
      }),
    )
    .max(50),
  warnings,
});

/** How the engine describes itself. */
export const engineReadySchema = z.object({
  version: z.string(),
  ageDays: z.number().nullable(),
  javascriptRuntime: z.string().nullable(),
  /** `kernel`: the system limits the engine and its children to their ports; `process`: only its own code does. */
  networkLock: z.enum(['kernel', 'process']),
  /** Version of the PO token plugin; null without a provider, or if the plugin can't be loaded. */
  potProvider: z.string().nullable(),
});

export const engineResultSchema = z.discriminatedUnion('kind', [
  extractionSchema,
  engineReadySchema.extend({ kind: z.literal('health') }),
]);

/** A failed job: what yt-dlp raised. */
export const engineFailureSchema = z.object({
  kind: z.string(),
  /** Class names of the exception, its bases and its causes. */
  kinds: z.array(z.string()).max(60).default([]),
  message,
  httpStatus: z.number().nullish(),
  /** How many videos the page has, if the requested item number is higher. */
  itemCount: z.number().nullish(),
  causes: z.array(message).max(10).default([]),
  warnings,
});

export type EngineReady = z.output<typeof engineReadySchema>;
export type EngineResult = z.output<typeof engineResultSchema>;
export type EngineFailure = z.output<typeof engineFailureSchema>;
export type RawExtraction = z.output<typeof extractionSchema>;
export type RawFormat = z.output<typeof rawFormatSchema>;
