import { z } from 'zod';
import { layoutSchema, windowLayoutSchema } from '../formats/mp4/remux/layout.js';
import type { Tags } from '../formats/mp4/remux/movie-boxes.js';
import type { ManifestOptions } from '../manifests/dash-segments.js';
import { type PlaylistOptions, playlistSchema } from '../manifests/hls-playlist.js';
import { headStepSchema } from '../formats/media-head.js';
import { probeSchema } from '../formats/probed.js';
import { rejectionCodes } from '../formats/rejection.js';
import type { FilePiece } from '../formats/partial-file.js';
import type { PartlyRead, WindowTracks } from '../formats/mp4/remux/remux.js';
import type { WindowTimes } from '../formats/mp4/remux/window.js';
import { cuesSchema } from '../formats/subtitles/cues.js';
import type { SubtitleFormat } from '../formats/subtitles/read.js';
import { tableSchema } from '../manifests/segment-table.js';

/** A job for a parser process: one whole input, one small result. */
export type ParserJob =
  | ({ readonly kind: 'playlist'; readonly bytes: Uint8Array } & PlaylistOptions)
  | ({ readonly kind: 'manifest'; readonly bytes: Uint8Array } & ManifestOptions)
  | { readonly kind: 'initialisation'; readonly bytes: Uint8Array; readonly readsAudioOnly: boolean }
  | {
      readonly kind: 'head';
      readonly pieces: readonly FilePiece[];
      readonly totalBytes: number | null;
      readonly hasRanges: boolean;
    }
  | { readonly kind: 'remux'; readonly files: readonly PartlyRead[]; readonly tags: Tags }
  | {
      readonly kind: 'window';
      readonly files: readonly PartlyRead[];
      readonly tags: Tags;
      readonly wanted: WindowTracks;
      readonly times: WindowTimes;
    }
  | { readonly kind: 'subtitles'; readonly files: readonly Uint8Array[]; readonly format: SubtitleFormat }
  | { readonly kind: 'ffprobe'; readonly bytes: Uint8Array };

export type JobKind = ParserJob['kind'];
export type JobOf<Kind extends JobKind> = Extract<ParserJob, { readonly kind: Kind }>;

function resultOf<Kind extends JobKind, Schema extends z.ZodType>(job: Kind, result: Schema) {
  return z.object({ job: z.literal(job), result });
}

/** Results, tagged with the kind of their job. */
export const parserResultSchema = z.discriminatedUnion('job', [
  resultOf('playlist', playlistSchema),
  resultOf('manifest', tableSchema),
  resultOf('initialisation', z.string().max(64).nullable()),
  resultOf('head', headStepSchema),
  resultOf('remux', layoutSchema.nullable()),
  resultOf('window', windowLayoutSchema.nullable()),
  resultOf('subtitles', cuesSchema),
  resultOf('ffprobe', probeSchema),
]);
export type ParserResult = z.output<typeof parserResultSchema>;
export type JobResult<Kind extends JobKind> = Extract<ParserResult, { readonly job: Kind }>['result'];

/** A parser's reason to reject its input. */
export const rejectionSchema = z.object({
  code: z.enum(rejectionCodes),
  detail: z.string().max(500),
});
