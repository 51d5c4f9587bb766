import type { RelayInput } from '../relay/index.js';
import type { Expectation, SentTrack } from './expectation.js';
import type { KnownFile, StreamFormat } from './response.js';

/** A file that is made, but whose every byte is decided before ffmpeg starts. */
export interface ExactFile extends KnownFile {
  /** Seconds of media before a byte of it: what is made and thrown away for a client that resumes there. */
  secondsBefore(byte: number): number;
}

/**
 * One kind of stream that ffmpeg makes. Immutable: it describes the stream, also for HEAD, and
 * `begin` starts the state of one run. To add one, implement both interfaces and name it in `outputFor`.
 */
export interface StreamOutput {
  readonly format: StreamFormat;
  /** Null where the length is unknown until ffmpeg's last byte. */
  readonly file: ExactFile | null;
  /** Bytes in front of the media that the plan's estimate lacks. */
  headerBytes(): Promise<number>;
  ffmpegArguments(inputs: readonly RelayInput[]): string[];
  begin(expected: Expectation): OutputRun;
}

/** ffmpeg's output on its way to the client: finished where ffmpeg cannot, and measured. */
export interface OutputRun {
  /** Whether audio or video has passed, not only headers. */
  readonly hasMedia: boolean;
  /** Whether what has passed ends at the end of a box or frame. */
  readonly isWhole: boolean;
  readonly tracks: readonly SentTrack[];
  /** The output's file; null once ffmpeg made something else than was promised. Known with the first media. */
  readonly file: ExactFile | null;
  /** When a track begins: below zero where only an edit list hides its beginning. Known with the first media. */
  startSeconds(type: SentTrack['type']): number;
  /** Takes ffmpeg's next bytes, returns those for the client. */
  push(chunk: Buffer): readonly Buffer[];
  /** What goes in front of the media; called once, with the first media. */
  header(): Promise<Buffer>;
  /** What goes behind the media; called once, when they are verified. @throws DomainError for less than was promised */
  trailer(): Buffer;
}
