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
import type { SourceHead, SourceHeads } from '../look/source-heads.js';
import { UnexpectedMediaError } from '../look/learnt.js';
import { mp3Arguments } from '../ffmpeg/arguments.js';
import { mp3BitrateKbps, type AudioTrim } from '../ffmpeg/audio.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { secondsIn } from '../plan/clip.js';
import { outputSeconds, type Plan } from '../plan/plan.js';
import { waitMs } from '../upstream/media-source.js';
import type { ReaderOptions } from '../upstream/upstream.js';
import type { SentTrack } from './expectation.js';
import type { OutputRun, StreamOutput } from './output.js';
import { formats } from './response.js';
import { etagOf } from './site-file.js';

/** An ID3 tag, a frame that states the length, then the MP3 frames. */
export function mp3Output(
  plan: Plan,
  tools: MediaTools,
  cover: Promise<Cover | null>,
  trim: AudioTrim | null = null,
): StreamOutput {
  const tagFor = async (seconds: number | null) =>
    makeId3Tag({ ...plan, cover: await cover, durationSeconds: outputSeconds(plan, seconds) });
  const kind = plan.audio?.action === 'copy' ? 'Xing' : 'Info';
  return {
    format: formats.mp3,
    file: null,
    headerBytes: async () => (await tagFor(plan.expected.seconds)).length,
    ffmpegArguments([input], { audio, expected: { clip } }) {
      if (input === undefined || audio === null) throw new Error('a plan for MP3 has an input with audio');
      return mp3Arguments(input, audio, tools, { trim, clip });
    },
    begin: (expected) =>
      new Mp3Run(async (firstFrame) => {
        const tag = await tagFor(expected.seconds);
        return Buffer.concat([tag, infoFrame(firstFrame, expected.audioSeconds, kind)]);
      }),
  };
}

/** An MP3 whose size is known before ffmpeg starts, byte-for-byte reproducible with the same tools. */
export function exactMp3Output(
  plan: Plan,
  tools: MediaTools,
  stated: StatedAudio,
  cover: Cover | null,
): StreamOutput {
  // MP3 supports 192 kbit/s at both rates; pick the one that divides evenly.
  const sampleRate = stated.sampleRate % 8000 === 0 ? 48_000 : 44_100;
  const { clip } = plan.expected;
  const samples = Math.round(secondsIn(clip, stated.seconds) * sampleRate);
  const seconds = samples / sampleRate;
  const audio = constantFrames(samples, { bitrateKbps: mp3BitrateKbps, sampleRate });
  const tag = makeId3Tag({ ...plan, cover, durationSeconds: seconds });
  // Floating-point rounding may differ between processors.
  const machine = `${process.arch} ${cpus()[0]?.model ?? ''} ffmpeg ${tools.version}`;
  const part = clip === null ? [] : [String(clip.startSeconds)];
  const { strongEtag } = stated.identity;
  const source = strongEtag && `${strongEtag} ${stated.totalBytes}`;
  const etag = etagOf(source, machine, String(samples), tag.toString('latin1'), ...part);
  const silentSeconds = maxSilentSamples / stated.sampleRate;
  const maxSilentFrames = Math.max(minSilentFrames, Math.ceil((silentSeconds * sampleRate) / 1152));
  return {
    ...mp3Output(plan, tools, Promise.resolve(cover), { sampleRate, samples }),
    file: {
      identity: stated.identity,
      totalBytes: tag.length + audio.unpaddedBytes + audio.totalBytes,
      etag,
      seconds,
      hasRanges: etag !== null,
      secondsBefore: (byte) => Math.max(0, byte - tag.length) / (mp3BitrateKbps * 125),
    },
    begin: () =>
      new Mp3Run((firstFrame) => Buffer.concat([tag, infoFrame(firstFrame, seconds, 'Info')]), {
        ...audio,
        maxSilentFrames,
      }),
  };
}

/**
 * Cover a container's rounding and a decoder's delay: HE-AAC ends 2196 samples early, 0.27 s at 8 kHz.
 * More would be made-up silence.
 */
const minSilentFrames = 4;
const maxSilentSamples = 2200;

/** The frames of an MP3 whose size is known. */
interface ExactFrames extends ConstantFrames {
  readonly maxSilentFrames: number;
}

class Mp3Run implements OutputRun {
  readonly #counter = new Mp3FrameCounter();
  readonly #makeHeader: (firstFrame: Buffer) => Buffer | Promise<Buffer>;
  readonly #exact: ExactFrames | undefined;
  #firstFrame: Buffer = Buffer.alloc(0);
  #held: Buffer = Buffer.alloc(0);
  #bytes = 0;

  /** @param makeHeader makes the beginning of the file */
  constructor(makeHeader: (firstFrame: Buffer) => Buffer | Promise<Buffer>, exact?: ExactFrames) {
    this.#makeHeader = makeHeader;
    this.#exact = exact;
  }

  get hasMedia(): boolean {
    return this.#counter.frames > 0 || !this.isInFormat;
  }

  get isInFormat(): boolean {
    return this.#firstFrame.length < 4 || readMp3FrameHeader(this.#firstFrame.readUInt32BE()) !== undefined;
  }

  get isWhole(): boolean {
    return this.#counter.isComplete;
  }

  get tracks(): readonly SentTrack[] {
    return [{ type: 'audio', endSeconds: this.#counter.seconds }];
  }

  header(): Buffer | Promise<Buffer> {
    return this.#makeHeader(this.#firstFrame);
  }

  /** With a stated length, the last byte ends the response, so the last part is held back until verification. */
  push(chunk: Buffer): readonly Buffer[] {
    // Encoders may add a frame or two at the end.
    const part = chunk.subarray(0, (this.#exact?.totalBytes ?? Infinity) - this.#bytes);
    if (part.length === 0) return [];
    if (this.#counter.frames === 0) this.#firstFrame = part;
    this.#counter.push(part);
    if (this.#exact === undefined) return [part];
    this.#bytes += part.length;
    const ready = this.#held;
    this.#held = part;
    return ready.length === 0 ? [] : [ready];
  }

  /** With silence for the few frames that the decoder left out. @throws UnexpectedMediaError when more are missing */
  trailer(): Buffer {
    if (this.#exact === undefined) return this.#held;
    const { frames, bytesBefore, totalBytes, maxSilentFrames } = this.#exact;
    const sent = this.#counter.frames;
    const missing = Math.max(0, frames - sent);
    const silence = Array.from({ length: Math.min(missing, maxSilentFrames) }, (_, index) => {
      const frame = sent + index;
      return silentFrame(this.#firstFrame, bytesBefore(frame + 1) - bytesBefore(frame));
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

/** The audio length that the source of an MP3 states, and the version of its file. */
interface StatedAudio extends AudioLength, Pick<SourceHead, 'identity' | 'totalBytes'> {}

/**
 * The exact audio length that the source of an MP3 states.
 * @returns null if its file doesn't state it or can't be read
 * @throws the signal's reason
 */
export async function statedAudio(
  heads: SourceHeads,
  { inputs, audio, expected, statesWrongAudioLength }: Plan,
  options: ReaderOptions,
): Promise<StatedAudio | null> {
  const [source] = inputs;
  if (statesWrongAudioLength || audio?.action !== 'transcode' || source?.kind !== 'file') return null;
  // The next response has another length.
  if (heads.isOneShot(source)) return null;
  // The head states the length of the first track.
  if ((audio.track ?? 0) > 0 || waitMs(inputs, Date.now()) > 0) return null;
  const head = await heads.of(source, options).catch((error: unknown) => {
    options.signal.throwIfAborted();
    // ffmpeg either reads the file anyway or reports a better error.
    if (error instanceof DomainError) return null;
    throw error;
  });
  if (head === null || head.audioLength === null || head.totalBytes === null) return null;
  const { audioLength, totalBytes, identity } = head;
  return secondsIn(expected.clip, audioLength.seconds) === 0
    ? null
    : { ...audioLength, identity, totalBytes };
}

/** A frame that states the length; empty if it is unknown. */
function infoFrame(firstFrame: Buffer, seconds: number | null, kind: 'Xing' | 'Info'): Buffer {
  const frame = seconds === null ? undefined : makeInfoFrame(firstFrame, seconds, kind);
  return frame ?? Buffer.alloc(0);
}
