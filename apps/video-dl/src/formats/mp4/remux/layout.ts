import { z } from 'zod';
import { bytesUpTo, count, maxRows, numbers, shortText } from '../../schemas.js';
import type { MovieHeader } from '../movie-header.js';
import type { SegmentIndex } from '../segment-index.js';

/** Files that we don't remux ourselves; ffmpeg may still read them. */
export class NotRemuxableError extends Error {
  override name = 'NotRemuxableError';
}

/** The parts of an MP4 or QuickTime file that say where its media are. */
export interface SourceFile {
  readonly movie: MovieHeader;
  /** Of a fragmented file, and where its box ends. */
  readonly index: (SegmentIndex & { readonly end: number }) | undefined;
  readonly totalBytes: number;
}

/** A larger header would take longer to send than ffmpeg takes to start. */
export const maxHeaderBytes = 8 * 1024 ** 2;

/** A track of the output, with ffprobe's name of its codec. */
const trackSchema = z.object({ type: z.enum(['video', 'audio']), codec: shortText, seconds: z.number() });

export const layoutSchema = z
  .object({
    header: bytesUpTo(maxHeaderBytes),
    /** Of each part: which source, where in it, and its length in bytes. Parts of a source are in its order. */
    sources: bytesUpTo(maxRows),
    offsets: numbers,
    lengths: numbers,
    tracks: z.array(trackSchema).max(2).readonly(),
    /** The track ids in the fragments of each source; null if the parts are copied unchanged. */
    fragmentTracks: z.array(count).max(2).readonly().nullable(),
  })
  .refine(({ sources, offsets, lengths }) =>
    [offsets, lengths].every(({ length }) => length === sources.length),
  );

/** An MP4 whose every byte is known: its header, then parts of the source files. */
export type Layout = Readonly<z.output<typeof layoutSchema>>;

export const windowLayoutSchema = z.object({
  layout: layoutSchema,
  /** Where the window begins. */
  startSeconds: z.number(),
});
export type WindowLayout = Readonly<z.output<typeof windowLayoutSchema>>;
