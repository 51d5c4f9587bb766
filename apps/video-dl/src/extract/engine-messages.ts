import { z } from 'zod';
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
      /** Contents of a Netscape cookie file. */
      readonly cookies?: string;
    };

const text = z.string().nullable();
const number = z.number().nullable();

const rawFormatSchema = z.object({
  format_id: text,
  format_note: text,
  ext: text,
  protocol: text,
  url: z.string(),
  manifest_url: text,
  vcodec: text,
  acodec: text,
  container: text,
  width: number,
  height: number,
  fps: number,
  tbr: number,
  vbr: number,
  abr: number,
  filesize: number,
  filesize_approx: number,
  http_headers: z.record(z.string(), z.string()),
  cookies: text,
  http_chunk_size: number,
  fragments: z.array(z.object({ url: z.string() })).nullable(),
  fragments_duration: number,
});

const indices = z.array(z.number().int().nonnegative()).max(2);

const extractionSchema = z.object({
  kind: z.literal('extraction'),
  id: text,
  title: text,
  description: text,
  duration: number,
  uploader: text,
  channel: text,
  creator: text,
  artist: text,
  webpage_url: text,
  original_url: text,
  extractor: text,
  extractor_key: text,
  upload_date: text,
  live_status: text,
  is_live: z.boolean(),
  thumbnail: text,
  playlist_index: number,
  playlist_count: number,
  formats: z.array(rawFormatSchema),
  selections: z.object({ mp3: indices, 'mp4-720': indices, 'mp4-1080': indices }),
  elapsed_ms: z.number(),
});

/** What the engine says of itself. */
const descriptionSchema = z.object({
  version: z.string(),
  ageDays: z.number().nullable(),
  javascriptRuntime: z.string().nullable(),
  pythonVersion: z.string(),
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
  kinds: z.array(z.string()).default([]),
  message: z.string(),
  httpStatus: z.number().nullish(),
  causes: z.array(z.string()).default([]),
  extractor: z.string().nullish(),
  expected: z.boolean().default(false),
  warnings: z.array(z.string()).default([]),
});

export type EngineReady = z.output<typeof engineReadySchema>;
export type EngineResult = z.output<typeof engineResultSchema>;
export type EngineFailure = z.output<typeof engineFailureSchema>;
export type RawExtraction = z.output<typeof extractionSchema>;
export type RawFormat = z.output<typeof rawFormatSchema>;
