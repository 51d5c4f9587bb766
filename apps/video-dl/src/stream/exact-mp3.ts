import { cpus } from 'node:os';
import { DomainError } from '@media-services/http-common';
import {
  constantFrames,
  makeInfoFrame,
  readMp3FrameHeader,
  silentFrame,
  type ConstantFrames,
} from '../containers/mp3-frames.js';
import type { SoundLength } from '../containers/mp4/sound-length.js';
import type { HeadOptions, SourceHeads } from '../extract/index.js';
import { mp3BitrateKbps } from '../ffmpeg/bitrates.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Plan } from '../plan/plan.js';
import { waitMs } from '../upstream/media-source.js';
import { makeTag } from './mp3-header.js';
import { digest } from './original.js';
import type { KnownFile } from './response.js';

/** An MP3 of which the length is decided before ffmpeg starts. */
export interface ExactMp3 {
  readonly file: KnownFile;
  /** In front of the sound, the frame with the length not included. */
  readonly tag: Buffer;
  readonly sampleRate: 44_100 | 48_000;
  readonly samples: number;
  readonly sound: ConstantFrames;
}

/** What the source of an MP3 says of its sound, and the strong validator of the file that says it. */
export interface StatedSound extends SoundLength {
  readonly validator: string | null;
}

/**
 * How much audio the source of an MP3 states, exactly.
 * @returns null where its file doesn't state it, or can't be read
 * @throws the signal's reason
 */
export async function statedSound(
  heads: SourceHeads,
  plan: Plan,
  options: HeadOptions,
): Promise<StatedSound | null> {
  const [source] = plan.inputs;
  if (plan.target !== 'mp3' || plan.audio?.action !== 'transcode' || source?.kind !== 'file') return null;
  if (waitMs(plan.inputs, Date.now()) > 0) return null;
  try {
    const { sound, identity, totalBytes } = await heads.of(source, options);
    if (sound === null || totalBytes === null) return null;
    const { strongEtag } = identity;
    return { ...sound, validator: strongEtag === undefined ? null : `${strongEtag} ${String(totalBytes)}` };
  } catch (error) {
    options.signal.throwIfAborted();
    // ffmpeg reports what can't be read, or reads it all the same.
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** What an MP3 of this sound will be, byte for byte the same every time it is made with the same tools. */
export function exactMp3(
  plan: Plan,
  stated: StatedSound,
  { cover, tools }: { cover: Uint8Array | null; tools: MediaTools },
): ExactMp3 {
  // The rates at which MP3 has 192 kbit/s; of the two, the one that divides evenly.
  const sampleRate = stated.sampleRate % 8000 === 0 ? 48_000 : 44_100;
  const samples = Math.round(stated.seconds * sampleRate);
  const sound = constantFrames(samples, { bitrateKbps: mp3BitrateKbps, sampleRate });
  const tag = makeTag(plan, cover, samples / sampleRate);
  const totalBytes = tag.length + sound.unpaddedBytes + sound.totalBytes;
  const { validator } = stated;
  // Another processor's arithmetic may round another way.
  const machine = `${process.arch} ${cpus()[0]?.model ?? ''} ffmpeg ${tools.version}`;
  const etag = validator && `"${digest(validator, machine, String(samples), tag.toString('latin1'))}"`;
  return { file: { totalBytes, etag, hasRanges: etag !== null }, tag, sampleRate, samples, sound };
}

/** Whether the encoder does what the length was reckoned with. */
export function isAsReckoned(firstFrame: Buffer, { sound, sampleRate }: ExactMp3): boolean {
  if (firstFrame.length < 4) return false;
  const header = readMp3FrameHeader((firstFrame.readUInt32BE() & ~0x0000_0200) >>> 0);
  return header?.sizeBytes === sound.unpaddedBytes && header.sampleRate === sampleRate;
}

/** The tag, and the frame that states how many follow. */
export function exactHeader(firstFrame: Buffer, { tag, samples, sampleRate }: ExactMp3): Buffer {
  return Buffer.concat([tag, makeInfoFrame(firstFrame, samples / sampleRate, 'Info') ?? Buffer.alloc(0)]);
}

/** How a decoder's delay and a container's rounding show at the end; more would be invented silence. */
const maxSilentFrames = 2;

/**
 * Silence for the frame or two that the encoder did not make.
 * @param firstFrame whose kind they take on
 * @throws DomainError when more is missing
 */
export function missingFrames(firstFrame: Buffer, madeFrames: number, { sound, ...exact }: ExactMp3): Buffer {
  const missing = Math.max(0, sound.frames - madeFrames);
  if (missing > maxSilentFrames) {
    const seconds = (missing * 1152) / exact.sampleRate;
    throw new DomainError(
      'upstream_error',
      `The media of the site is not complete: ${seconds.toFixed(1)} s of its audio are missing. Try again later.`,
    );
  }
  const frames = Array.from({ length: missing }, (_, index) =>
    silentFrame(
      firstFrame,
      sound.bytesBefore(madeFrames + index + 1) - sound.bytesBefore(madeFrames + index),
    ),
  );
  return Buffer.concat(frames);
}
