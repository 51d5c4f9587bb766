import { z } from 'zod';
import { audioLengthSchema, headerSchema } from './probed.js';
import { count, numberOrNull } from './schemas.js';

/** Audio-only file formats. Opus in Ogg counts as its own format. */
const audioFiles = ['m4a', 'mp3', 'ogg', 'opus', 'webm', 'flac', 'wav'] as const;

const headSchema = z.object({
  /** What ffprobe would report; null if only ffprobe can tell. */
  probe: headerSchema.nullable(),
  /** Format of a file that may be sent unchanged; null for anything else. */
  original: z.enum(['mp3', 'mp4']).nullable(),
  /** Format of an audio-only file; null for anything else. */
  audioFile: z.enum(audioFiles).nullable(),
  /** The audio's exact length; null if the file doesn't state it. */
  audioLength: audioLengthSchema.nullable(),
  /** The length of a file that must be read elsewhere to know it, or whose audio has to be counted; null for others. */
  lengthSeconds: numberOrNull,
  /** The length to use instead of the one that the file states, null if unknown; null if that one may be true. */
  correctedLength: z.object({ seconds: numberOrNull }).nullable(),
  /** Lengths inside a fragmented MP4 that Apple's players would add to those of its fragments, so that we send 0. */
  zeroed: z
    .array(z.object({ start: count, end: count }))
    .max(1000)
    .readonly(),
});

/** The parsed header of a file. */
export type MediaHead = Readonly<z.output<typeof headSchema>>;

/** The bytes needed next, or the result. */
export const headStepSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('need'),
    parts: z
      .array(z.object({ offset: count, bytes: count }))
      .max(32)
      .readonly(),
  }),
  headSchema.extend({ kind: z.literal('head') }),
]);
export type HeadStep = z.output<typeof headStepSchema>;

export const noHead: MediaHead = {
  probe: null,
  original: null,
  audioFile: null,
  audioLength: null,
  lengthSeconds: null,
  correctedLength: null,
  zeroed: [],
};
