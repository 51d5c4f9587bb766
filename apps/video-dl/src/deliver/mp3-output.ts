import { cpus } from 'node:os';
import { DomainError } from '@media-services/http-common';
import type { Cover } from '../formats/cover.js';
import { makeId3Tag } from '../formats/mpeg-audio/id3-tag.js';
import { Mp3FrameCounter } from '../formats/mpeg-audio/frame-chain.js';
import { readMp3FrameHeader } from '../formats/mpeg-audio/frames.js';
import {
  constantFrames,
  makeInfoFrame,
  silentFrame,
  type ConstantFrames,
} from '../formats/mpeg-audio/info-frame.js';
import type { AudioLength } from '../formats/probed.js';
import type { HeadOptions, SourceHeads } from '../look/source-heads.js';
import { mp3Arguments, mp3BitrateKbps, type AudioTrim } from '../ffmpeg/arguments.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { secondsIn } from '../plan/clip.js';
import { outputSeconds, type Plan } from '../plan/plan.js';
import type { RelayInput } from '../relay/session.js';
import { waitMs } from '../upstream/media-source.js';
import type { Expectation, SentTrack } from './expectation.js';
import type { ExactFile, OutputRun, StreamOutput } from './output.js';
import { formats } from './response.js';
import { digest } from './site-file.js';

/** An ID3 tag, a frame that states the length, then the MP3 frames. */
export class Mp3Output implements StreamOutput {
  readonly format = formats.mp3;
  readonly file = null;
  readonly #plan: Plan;
  readonly #tools: MediaTools;
  readonly #cover: Promise<Cover | null>;

  constructor(plan: Plan, tools: MediaTools, cover: Promise<Cover | null>) {
    this.#plan = plan;
    this.#tools = tools;
    this.#cover = cover;
  }

  async headerBytes(): Promise<number> {
    const seconds = outputSeconds(this.#plan, this.#plan.expected.seconds);
    return makeTag(this.#plan, await this.#cover, seconds).length;
  }

  ffmpegArguments(inputs: readonly RelayInput[], plan: Plan): string[] {
    return argumentsFor(plan, inputs, this.#tools);
  }

  begin(expected: Expectation): Promise<OutputRun> {
    return Promise.resolve(new Mp3Run(inexactHeader(this.#plan, this.#cover, expected)));
  }
}

class Mp3Run implements OutputRun {
  readonly #counter = new Mp3FrameCounter();
  readonly #inexactHeader: (firstFrame: Buffer) => Promise<Buffer>;
  protected firstFrame: Buffer = Buffer.alloc(0);

  constructor(inexactHeader: (firstFrame: Buffer) => Promise<Buffer>) {
    this.#inexactHeader = inexactHeader;
  }

  get file(): ExactFile | null {
    return null;
  }

  get frames(): number {
    return this.#counter.frames;
  }

  get hasMedia(): boolean {
    return this.frames > 0 || !this.isInFormat;
  }

  get isInFormat(): boolean {
    return this.firstFrame.length < 4 || readMp3FrameHeader(this.firstFrame.readUInt32BE()) !== undefined;
  }

  get isWhole(): boolean {
    return this.#counter.isComplete;
  }

  get tracks(): readonly SentTrack[] {
    return [{ type: 'audio', endSeconds: this.#counter.seconds, gapSeconds: 0 }];
  }

  startSeconds(): number {
    return 0;
  }

  push(chunk: Buffer): readonly Buffer[] {
    if (this.frames === 0) this.firstFrame = chunk;
    this.#counter.push(chunk);
    return [chunk];
  }

  header(): Promise<Buffer> {
    return this.#inexactHeader(this.firstFrame);
  }

  trailer(): Buffer {
    return Buffer.alloc(0);
  }
}

/** The audio length that the source of an MP3 states, with the strong validator of that file. */
export interface StatedAudio extends AudioLength {
  readonly validator: string | null;
}

/** An MP3 whose size is known before ffmpeg starts. */
interface ExactMp3 {
  readonly file: ExactFile;
  readonly tag: Buffer;
  readonly trim: AudioTrim;
  readonly audio: ConstantFrames;
}

/** An MP3 that is byte-for-byte reproducible with the same tools. */
export class ExactMp3Output implements StreamOutput {
  readonly format = formats.mp3;
  readonly #plan: Plan;
  readonly #tools: MediaTools;
  readonly #cover: Cover | null;
  readonly #exact: ExactMp3;

  constructor(plan: Plan, tools: MediaTools, stated: StatedAudio, cover: Cover | null) {
    this.#plan = plan;
    this.#tools = tools;
    this.#cover = cover;
    this.#exact = exactMp3(plan, tools, stated, cover);
  }

  get file(): ExactFile {
    return this.#exact.file;
  }

  headerBytes(): Promise<number> {
    return Promise.resolve(this.#exact.tag.length);
  }

  ffmpegArguments(inputs: readonly RelayInput[], plan: Plan): string[] {
    return argumentsFor(plan, inputs, this.#tools, this.#exact.trim);
  }

  begin(expected: Expectation): Promise<OutputRun> {
    const cover = Promise.resolve(this.#cover);
    return Promise.resolve(new ExactMp3Run(this.#exact, inexactHeader(this.#plan, cover, expected)));
  }
}

function exactMp3(plan: Plan, tools: MediaTools, stated: StatedAudio, cover: Cover | null): ExactMp3 {
  // MP3 supports 192 kbit/s at both rates; pick the one that divides evenly.
  const sampleRate = stated.sampleRate % 8000 === 0 ? 48_000 : 44_100;
  const { clip } = plan.expected;
  const samples = Math.round(secondsIn(clip, stated.seconds) * sampleRate);
  const audio = constantFrames(samples, { bitrateKbps: mp3BitrateKbps, sampleRate });
  const tag = makeTag(plan, cover, samples / sampleRate);
  // Floating-point rounding may differ between processors.
  const machine = `${process.arch} ${cpus()[0]?.model ?? ''} ffmpeg ${tools.version}`;
  const { validator } = stated;
  const part = clip === null ? [] : [String(clip.startSeconds)];
  const etag =
    validator && `"${digest(validator, machine, String(samples), tag.toString('latin1'), ...part)}"`;
  const file = {
    totalBytes: tag.length + audio.unpaddedBytes + audio.totalBytes,
    etag,
    seconds: samples / sampleRate,
    hasRanges: etag !== null,
    secondsBefore: (byte: number) => Math.max(0, byte - tag.length) / (mp3BitrateKbps * 125),
  };
  return { file, tag, trim: { sampleRate, samples }, audio };
}

/** Encoders may add a frame or two at the end. */
const maxDroppedBytes = 4 * 1024;
/**
 * Covers a container's rounding and a decoder's delay: HE-AAC ends 2196 samples early, 0.09 s at 24 kHz.
 * More would be made-up silence.
 */
const maxSilentFrames = 4;

/** Holds back the last part until verification, because with a stated length the last byte ends the response. */
class ExactMp3Run extends Mp3Run {
  readonly #exact: ExactMp3;
  /** Whether the encoder produces the frames that the size was calculated for. */
  #isAsPlanned = true;
  #held: Buffer | undefined;
  #sentBytes = 0;
  #droppedBytes = 0;

  constructor(exact: ExactMp3, inexactHeader: (firstFrame: Buffer) => Promise<Buffer>) {
    super(inexactHeader);
    this.#exact = exact;
  }

  override get file(): ExactFile | null {
    return this.#isAsPlanned ? this.#exact.file : null;
  }

  override push(chunk: Buffer): readonly Buffer[] {
    if (!this.hasMedia) this.#isAsPlanned = startsAsPlanned(chunk, this.#exact);
    if (!this.#isAsPlanned) return super.push(chunk);
    const part = chunk.subarray(0, this.#exact.audio.totalBytes - this.#sentBytes);
    this.#sentBytes += part.length;
    this.#droppedBytes += chunk.length - part.length;
    if (this.#droppedBytes > maxDroppedBytes) throw tooMuchAudio();
    super.push(part);
    if (part.length === 0) return [];
    const ready = this.#held === undefined ? [] : [this.#held];
    this.#held = part;
    return ready;
  }

  override header(): Promise<Buffer> {
    if (!this.#isAsPlanned) return super.header();
    const { tag, trim } = this.#exact;
    const info = makeInfoFrame(this.firstFrame, trim.samples / trim.sampleRate, 'Info');
    return Promise.resolve(Buffer.concat([tag, info ?? Buffer.alloc(0)]));
  }

  override trailer(): Buffer {
    if (!this.#isAsPlanned) return super.trailer();
    const missing = this.#missingFrames();
    if (this.#sentBytes + missing.length !== this.#exact.audio.totalBytes) throw differsFromFile();
    return Buffer.concat([this.#held ?? Buffer.alloc(0), missing]);
  }

  /** Silence for the few frames that the decoder left out. @throws DomainError when more are missing */
  #missingFrames(): Buffer {
    const { audio, trim } = this.#exact;
    const missing = Math.max(0, audio.frames - this.frames);
    if (missing > maxSilentFrames) throw incompleteAudio((missing * 1152) / trim.sampleRate);
    const sizeOf = (frame: number) => audio.bytesBefore(frame + 1) - audio.bytesBefore(frame);
    return Buffer.concat(
      Array.from({ length: missing }, (_, index) =>
        silentFrame(this.firstFrame, sizeOf(this.frames + index)),
      ),
    );
  }
}

function startsAsPlanned(firstFrame: Buffer, { audio, trim }: ExactMp3): boolean {
  if (firstFrame.length < 4) return false;
  const header = readMp3FrameHeader((firstFrame.readUInt32BE() & ~0x0000_0200) >>> 0);
  return header?.sizeBytes === audio.unpaddedBytes && header.sampleRate === trim.sampleRate;
}

/**
 * The exact audio length that the source of an MP3 states.
 * @returns null if its file doesn't state it or can't be read
 * @throws the signal's reason
 */
export async function statedAudio(
  heads: SourceHeads,
  plan: Plan,
  options: HeadOptions,
): Promise<StatedAudio | null> {
  const [source] = plan.inputs;
  if (plan.target !== 'mp3' || plan.audio?.action !== 'transcode' || source?.kind !== 'file') return null;
  // The head states the length of the first track.
  if ((plan.audio.track ?? 0) > 0 || waitMs(plan.inputs, Date.now()) > 0) return null;
  try {
    const { audioLength, identity, totalBytes } = await heads.of(source, options);
    if (
      audioLength === null ||
      totalBytes === null ||
      secondsIn(plan.expected.clip, audioLength.seconds) === 0
    )
      return null;
    const { strongEtag } = identity;
    return {
      ...audioLength,
      validator: strongEtag === undefined ? null : `${strongEtag} ${String(totalBytes)}`,
    };
  } catch (error) {
    options.signal.throwIfAborted();
    // ffmpeg either reads the file anyway or reports a better error.
    if (error instanceof DomainError) return null;
    throw error;
  }
}

function inexactHeader(
  plan: Plan,
  cover: Promise<Cover | null>,
  expected: Expectation,
): (firstFrame: Buffer) => Promise<Buffer> {
  return async (firstFrame) => {
    const tag = makeTag(plan, await cover, outputSeconds(plan, expected.seconds));
    const { audioSeconds } = expected;
    if (audioSeconds === null) return tag;
    const kind = plan.audio?.action === 'copy' ? 'Xing' : 'Info';
    return Buffer.concat([tag, makeInfoFrame(firstFrame, audioSeconds, kind) ?? Buffer.alloc(0)]);
  };
}

function makeTag(plan: Plan, cover: Cover | null, durationSeconds: number | null): Buffer {
  const { title, uploader: artist, webpageUrl: sourceUrl, chapters } = plan;
  return makeId3Tag({ title, artist, sourceUrl, durationSeconds, cover, chapters });
}

function argumentsFor(
  { audio, expected: { clip } }: Plan,
  [input]: readonly RelayInput[],
  tools: MediaTools,
  trim: AudioTrim | null = null,
): string[] {
  if (input === undefined || audio === null) throw new Error('a plan for MP3 has an input with audio');
  return mp3Arguments(input, audio, tools, { trim, clip });
}

function tooMuchAudio(): DomainError {
  return new DomainError('internal_error', 'ffmpeg produced more audio than requested. Try again.');
}

function differsFromFile(): DomainError {
  return new DomainError(
    'upstream_error',
    "The site's audio doesn't match the length in its file. Try again later.",
  );
}

function incompleteAudio(seconds: number): DomainError {
  return new DomainError(
    'upstream_error',
    `The site's media is incomplete: ${seconds.toFixed(1)} s of its audio are missing. Try again later.`,
  );
}
