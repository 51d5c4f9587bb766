import type { FfmpegInput } from '../ffmpeg/inputs.js';
import type { Plan } from '../plan/plan.js';
import type { Expectation, SentTrack } from './expectation.js';
import type { ObjectIdentity } from '../upstream/object-identity.js';
import type { KnownFile, StreamFormat } from './response.js';

/** A generated file whose every byte is determined before ffmpeg starts. */
export interface ExactFile extends KnownFile {
  /** The version of the source's file that determines it. */
  readonly identity: ObjectIdentity;
  /** Seconds of media before a byte: what is generated and discarded for a client that resumes there. */
  secondsBefore(byte: number): number;
}

/**
 * One kind of stream that ffmpeg generates. Immutable: it describes the stream (for HEAD too), and
 * `begin` creates the state of one run. To add one, implement both interfaces and add it to `outputFor`.
 */
export interface StreamOutput {
  readonly format: StreamFormat;
  /** Null if the size is unknown until ffmpeg's last byte. */
  readonly file: ExactFile | null;
  /** Bytes before the media that the plan's estimate doesn't include. */
  headerBytes?(): Promise<number>;
  /** What ffmpeg reads besides the media. */
  readonly extraInputs?: readonly FfmpegInput[];
  /** @param inputs the media, then `extraInputs` */
  ffmpegArguments(inputs: readonly FfmpegInput[], plan: Plan): string[];
  /** ffmpeg is starting meanwhile, so this may wait for a cover. */
  begin(expected: Expectation): OutputRun | Promise<OutputRun>;
}

/** Post-processes and measures ffmpeg's output on its way to the client. */
export interface OutputRun {
  /** Whether audio or video has been output, not only headers. */
  readonly hasMedia: boolean;
  /** Whether the output so far ends at the end of a box or frame. */
  readonly isWhole: boolean;
  readonly tracks: readonly SentTrack[];
  /** False if the media isn't in the format of the output. Known with the first media. */
  readonly isInFormat?: boolean;
  /** Takes ffmpeg's next bytes and returns those for the client. */
  push(chunk: Buffer): readonly Buffer[];
  /** Bytes to send before the media. Called once, with the first media. */
  header?(): Buffer | Promise<Buffer>;
  /** Bytes to send after the media. Called once, after verification. @throws DomainError if the output is too short */
  trailer?(): Buffer;
}
