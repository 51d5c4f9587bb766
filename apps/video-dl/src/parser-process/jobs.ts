import { isFloat64Array, isUint8Array } from 'node:util/types';
import { z } from 'zod';
import { maxHeaderBytes } from '../formats/mp4/remux/layout.js';
import type { Tags } from '../formats/mp4/remux/movie-boxes.js';
import type { WantedTrack } from '../manifests/dash-representations.js';
import type { PlaylistOptions } from '../manifests/hls-playlist.js';
import { maxVariableLength, maxVariableNameLength, maxVariables } from '../manifests/hls-variables.js';
import { audioFiles } from '../formats/media-head.js';
import { rejectionCodes } from '../formats/rejection.js';
import type { FilePiece } from '../formats/partial-file.js';
import type { PartlyRead, WindowTracks } from '../formats/mp4/remux/remux.js';
import type { WindowTimes } from '../formats/mp4/remux/window.js';
import { maxCueCharacters, maxCues } from '../formats/subtitles/cues.js';
import type { SubtitleFormat } from '../formats/subtitles/read.js';
import { maxUrlLength } from '../manifests/segment-table.js';

/** A job for a parser process: one whole input, one small result. */
export type ParserJob =
  | ({ readonly kind: 'playlist'; readonly bytes: Uint8Array } & PlaylistOptions)
  | {
      readonly kind: 'manifest';
      readonly bytes: Uint8Array;
      /** URL of the manifest after redirects. */
      readonly url: string;
      readonly wanted: WantedTrack | null;
      readonly maxSegments: number;
    }
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

const maxTextLength = 200;
const maxRows = 1_000_000;

const url = z.string().max(maxUrlLength);
const count = z.int().nonnegative();
const number = z.number().nullable();
const shortText = z.string().max(maxTextLength);
const bytes = (maxBytes: number) =>
  z.custom<Uint8Array>((value) => isUint8Array(value) && value.length <= maxBytes);
const range = z.object({ start: count, end: count }).nullable();

const numbers = z.custom<Float64Array>((value) => isFloat64Array(value) && value.length <= maxRows);

const tableSchema = z.object({
  baseUrls: z.array(url).max(10_000).readonly(),
  text: bytes(64 * 1024 ** 2),
  ends: bytes(4 * maxRows),
  rows: bytes(80 * maxRows),
  keys: z
    .array(
      z.object({
        reference: count.nullable(),
        bytes: bytes(64).nullable(),
        iv: bytes(16).nullable(),
      }),
    )
    .max(maxRows)
    .readonly(),
  initialisations: z
    .array(z.object({ base: count, reference: count, range, key: count.nullable() }))
    .max(1000)
    .readonly(),
});

const probeSchema = z.object({
  durationSeconds: number,
  startSeconds: z.number().optional(),
  formatName: shortText,
  streams: z
    .array(
      z.object({
        type: z.enum(['video', 'audio']),
        codec: shortText,
        width: number,
        height: number,
        fps: number,
        bitrateKbps: number,
        durationSeconds: number,
        delaySeconds: z.number().optional(),
        isUnseen: z.boolean().optional(),
        isAbsent: z.boolean().optional(),
        hdr: z.enum(['pq', 'hlg']).optional(),
        hiddenSeconds: z.number().optional(),
        isCover: z.boolean(),
        isDefault: z.boolean(),
      }),
    )
    .max(1100),
});

const layoutSchema = z
  .object({
    header: bytes(maxHeaderBytes),
    sources: bytes(maxRows),
    offsets: numbers,
    lengths: numbers,
    tracks: z
      .array(z.object({ type: z.enum(['video', 'audio']), codec: shortText, seconds: z.number() }))
      .max(2)
      .readonly(),
    fragmentTracks: z.array(count).max(2).readonly().nullable(),
  })
  .refine(({ sources, offsets, lengths }) =>
    [offsets, lengths].every(({ length }) => length === sources.length),
  );

const resultSchemas = {
  playlist: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('variant'),
      url,
      audioUrl: url.nullable(),
      variables: z
        .array(z.tuple([z.string().max(maxVariableNameLength), z.string().max(maxVariableLength)]).readonly())
        .max(maxVariables)
        .readonly(),
    }),
    z.object({ kind: z.literal('imports') }),
    z.object({ kind: z.literal('segments'), table: tableSchema }),
  ]),
  manifest: z.array(z.object({ kind: z.enum(['video', 'audio']), table: tableSchema })).max(2),
  initialisation: z.string().max(64).nullable(),
  head: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('need'),
      parts: z
        .array(z.object({ offset: count, bytes: count }))
        .max(32)
        .readonly(),
    }),
    z.object({
      kind: z.literal('head'),
      probe: probeSchema.nullable(),
      original: z.enum(['mp3', 'mp4']).nullable(),
      audioFile: z.enum(audioFiles).nullable(),
      audioLength: z.object({ seconds: z.number(), sampleRate: z.number() }).nullable(),
      lengthSeconds: number,
      correctedLength: z.object({ seconds: number }).nullable(),
      zeroed: z
        .array(z.object({ start: count, end: count }))
        .max(1000)
        .readonly(),
    }),
  ]),
  remux: layoutSchema.nullable(),
  window: z.object({ layout: layoutSchema, startSeconds: z.number() }).nullable(),
  subtitles: z
    .array(
      z.object({ startSeconds: z.number(), endSeconds: z.number(), text: z.string().max(maxCueCharacters) }),
    )
    .max(maxCues),
  ffprobe: probeSchema.extend({ sizeBytes: number }),
};

export type JobResult<Kind extends JobKind> = z.output<(typeof resultSchemas)[Kind]>;

/** Results, tagged with the kind of their job. */
export const parserResultSchema = z.discriminatedUnion('job', [
  z.object({ job: z.literal('playlist'), result: resultSchemas.playlist }),
  z.object({ job: z.literal('manifest'), result: resultSchemas.manifest }),
  z.object({ job: z.literal('initialisation'), result: resultSchemas.initialisation }),
  z.object({ job: z.literal('head'), result: resultSchemas.head }),
  z.object({ job: z.literal('remux'), result: resultSchemas.remux }),
  z.object({ job: z.literal('window'), result: resultSchemas.window }),
  z.object({ job: z.literal('subtitles'), result: resultSchemas.subtitles }),
  z.object({ job: z.literal('ffprobe'), result: resultSchemas.ffprobe }),
]);
export type ParserResult = z.output<typeof parserResultSchema>;

/** A parser's reason to reject its input. */
export const rejectionSchema = z.object({
  code: z.enum(rejectionCodes),
  detail: z.string().max(500),
});
