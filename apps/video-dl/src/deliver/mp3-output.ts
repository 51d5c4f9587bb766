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
import { UnexpectedMediaError } from '../look/learnt.js';
import { mp3Arguments } from '../ffmpeg/arguments.js';
import { mp3BitrateKbps, type AudioTrim } from '../ffmpeg/audio.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { secondsIn } from '../plan/clip.js';
import { outputSeconds, type Plan } from '../plan/plan.js';
import type { RelayInput } from '../relay/session.js';
import { waitMs } from '../upstream/media-source.js';
import type { ObjectIdentity } from '../upstream/remote-object.js';
import type { Expectation, SentTrack } from './expectation.js';
import type { ExactFile, OutputRun, StreamOutput } from './output.js';
import { formats } from './response.js';
import { digest } from './site-file.js';

/** An ID3 tag, a frame that states the length, then the MP3 frames. */
export class Mp3Output implements StreamOutput {
  readonly format = formats.mp3;
  readonly file: ExactFile | null = null;
  protected readonly trim: AudioTrim | null = null;
  readonly #plan: Plan;
  readonly #tools: MediaTools;
  readonly #cover: Promise<Cover | null>;

  constructor(plan: Plan, tools: MediaTools, cover: Promise<Cover | null>) {
    this.#plan = plan;
    this.#tools = tools;
    this.#cover = cover;
  }

  async headerBytes(): Promise<number> {
    return (await this.#tag(this.#plan.expected.seconds)).length;
  }

  ffmpegArguments([input]: readonly RelayInput[], { audio, expected: { clip } }: Plan): string[] {
    if (input === undefined || audio === null) throw new Error('a plan for MP3 has an input with audio');
    return mp3Arguments(input, audio, this.#tools, { trim: this.trim, clip });
  }

  begin(expected: Expectation): Promise<OutputRun> {
    const header = async (firstFrame: Buffer): Promise<Buffer> => {
      const tag = await this.#tag(expected.seconds);
      const kind = this.#plan.audio?.action === 'copy' ? 'Xing' : 'Info';
      const { audioSeconds } = expected;
      return audioSeconds === null ? tag : withInfoFrame(tag, firstFrame, audioSeconds, kind);
    };
    return Promise.resolve(new Mp3Run(header));
  }

  async #tag(seconds: number | null): Promise<Buffer> {
    return makeTag(this.#plan, await this.#cover, outputSeconds(this.#plan, seconds));
  }
}

class Mp3Run implements OutputRun {
  readonly #counter = new Mp3FrameCounter();
  readonly #header: (firstFrame: Buffer) => Promise<Buffer>;
  protected firstFrame: Buffer = Buffer.alloc(0);

  /** @param header makes the beginning of the file */
  constructor(header: (firstFrame: Buffer) => Promise<Buffer>) {
    this.#header = header;
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

  push(chunk: Buffer): readonly Buffer[] {
    if (this.frames === 0) this.firstFrame = chunk;
    this.#counter.push(chunk);
    return [chunk];
  }

  header(): Promise<Buffer> {
    return this.#header(this.firstFrame);
  }
}

/** The audio length that the source of an MP3 states, with the strong validator of that file. */
export interface StatedAudio extends AudioLength {
  readonly validator: string | null;
  readonly identity: ObjectIdentity;
}

/** An MP3 whose size is known before ffmpeg starts, byte-for-byte reproducible with the same tools. */
export class ExactMp3Output extends Mp3Output {
  override readonly file: ExactFile;
  protected override readonly trim: AudioTrim;
  readonly #audio: ConstantFrames;
  readonly #tag: Buffer;
  readonly #maxSilentFrames: number;

  constructor(plan: Plan, tools: MediaTools, stated: StatedAudio, cover: Cover | null) {
    super(plan, tools, Promise.resolve(cover));
    // MP3 supports 192 kbit/s at both rates; pick the one that divides evenly.
    const sampleRate = stated.sampleRate % 8000 === 0 ? 48_000 : 44_100;
    const { clip } = plan.expected;
    const samples = Math.round(secondsIn(clip, stated.seconds) * sampleRate);
    const seconds = samples / sampleRate;
    const audio = constantFrames(samples, { bitrateKbps: mp3BitrateKbps, sampleRate });
    const tag = makeTag(plan, cover, seconds);
    // Floating-point rounding may differ between processors.
    const machine = `${process.arch} ${cpus()[0]?.model ?? ''} ffmpeg ${tools.version}`;
    const part = clip === null ? [] : [String(clip.startSeconds)];
    const etag =
      stated.validator &&
      `"${digest(stated.validator, machine, String(samples), tag.toString('latin1'), ...part)}"`;
    this.trim = { sampleRate, samples };
    this.#audio = audio;
    this.#tag = tag;
    const silentSeconds = maxSilentSamples / stated.sampleRate;
    this.#maxSilentFrames = Math.max(minSilentFrames, Math.ceil((silentSeconds * sampleRate) / 1152));
    this.file = {
      identity: stated.identity,
      totalBytes: tag.length + audio.unpaddedBytes + audio.totalBytes,
      etag,
      seconds,
      hasRanges: etag !== null,
      secondsBefore: (byte) => Math.max(0, byte - tag.length) / (mp3BitrateKbps * 125),
    };
  }

  override begin(): Promise<OutputRun> {
    const header = (firstFrame: Buffer) =>
      Promise.resolve(withInfoFrame(this.#tag, firstFrame, this.file.seconds ?? 0));
    return Promise.resolve(new ExactMp3Run(this.#audio, this.#maxSilentFrames, header));
  }
}

/**
 * Cover a container's rounding and a decoder's delay: HE-AAC ends 2196 samples early, 0.27 s at 8 kHz.
 * More would be made-up silence.
 */
const minSilentFrames = 4;
const maxSilentSamples = 2200;

/** Holds back the last part until verification, because with a stated length the last byte ends the response. */
class ExactMp3Run extends Mp3Run {
  readonly #audio: ConstantFrames;
  readonly #maxSilentFrames: number;
  #held: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(
    audio: ConstantFrames,
    maxSilentFrames: number,
    header: (firstFrame: Buffer) => Promise<Buffer>,
  ) {
    super(header);
    this.#audio = audio;
    this.#maxSilentFrames = maxSilentFrames;
  }

  override push(chunk: Buffer): readonly Buffer[] {
    // Encoders may add a frame or two at the end.
    const part = chunk.subarray(0, this.#audio.totalBytes - this.#bytes);
    if (part.length === 0) return [];
    this.#bytes += part.length;
    const ready = this.#held;
    this.#held = part;
    super.push(part);
    return ready.length === 0 ? [] : [ready];
  }

  /** With silence for the few frames that the decoder left out. @throws UnexpectedMediaError when more are missing */
  trailer(): Buffer {
    const { frames, bytesBefore, totalBytes } = this.#audio;
    const missing = Math.max(0, frames - this.frames);
    const silence = Array.from({ length: Math.min(missing, this.#maxSilentFrames) }, (_, index) => {
      const frame = this.frames + index;
      return silentFrame(this.firstFrame, bytesBefore(frame + 1) - bytesBefore(frame));
    });
    const rest = Buffer.concat([this.#held, ...silence]);
    if (this.#bytes - this.#held.length + rest.length !== totalBytes)
      throw new UnexpectedMediaError(
        { kind: 'wrong_length' },
        "The site's audio doesn't match the length in its file.",
      );
    return rest;
  }
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
  // The next response has another length.
  if (heads.isOneShot(source)) return null;
  // The head states the length of the first track.
  if ((plan.audio.track ?? 0) > 0 || waitMs(plan.inputs, Date.now()) > 0) return null;
  const head = await heads.of(source, options).catch((error: unknown) => {
    options.signal.throwIfAborted();
    // ffmpeg either reads the file anyway or reports a better error.
    if (error instanceof DomainError) return null;
    throw error;
  });
  if (head === null || head.audioLength === null || head.totalBytes === null) return null;
  const { audioLength, totalBytes, identity } = head;
  if (secondsIn(plan.expected.clip, audioLength.seconds) === 0) return null;
  const { strongEtag } = identity;
  return {
    ...audioLength,
    identity,
    validator: strongEtag === undefined ? null : `${strongEtag} ${String(totalBytes)}`,
  };
}

/** The tag and a frame that states the length. */
function withInfoFrame(
  tag: Buffer,
  firstFrame: Buffer,
  seconds: number,
  kind: 'Xing' | 'Info' = 'Info',
): Buffer {
  return Buffer.concat([tag, makeInfoFrame(firstFrame, seconds, kind) ?? Buffer.alloc(0)]);
}

function makeTag(plan: Plan, cover: Cover | null, durationSeconds: number | null): Buffer {
  const { title, uploader: artist, webpageUrl: sourceUrl, chapters } = plan;
  return makeId3Tag({ title, artist, sourceUrl, durationSeconds, cover, chapters });
}
