import { createHash } from 'node:crypto';
import { errorCode } from '@media-services/http-common';
import { Mp4FormatError } from '../containers/mp4/box.js';
import { findMovie, type ReadAt } from '../containers/mp4/find-movie.js';
import { sampleEntryTypes, summarizeMovie, type ProbedStream } from '../containers/mp4/movie-summary.js';
import { id3TagBytes, startsWithFrames } from '../containers/mp3-frames.js';
import type { Extraction, Format } from '../extract/index.js';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { codecFamily } from '../plan/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { MediaRelay } from '../relay/index.js';
import { waitMs, type MediaSource, type RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import { failureOf, type ObjectReader, type Upstream } from '../upstream/upstream.js';
import type { StreamAbort } from './limits.js';

/** A file of the site that already is what the client asks for. */
export interface OriginalFile {
  readonly object: RemoteObject;
  readonly totalBytes: number;
  /** Strong: the same tag means the same bytes. Null where the site's server gives no strong one itself. */
  readonly etag: string | null;
}

/** What a look at a file's head showed: that it can be passed on, or what is in it instead, as far as that is told. */
export type Look =
  | { readonly isOriginal: true; readonly file: OriginalFile }
  | { readonly isOriginal: false; readonly streams: readonly ProbedStream[] | null };

interface LookOptions {
  readonly signal: AbortSignal;
  readonly renew: RenewSource;
}

const windowBytes = 128 * 1024;
/** Three frames in a row are no accident. */
const provingFrames = 3;
const largestFrameBytes = 1441;
/** Reading past the end of a damaged box. */
export const damageCodes = new Set(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

/** Looks at files that seem to be the answer already, and remembers what it saw as long as their extraction lives. */
export class Originals {
  readonly #upstream: Upstream;
  readonly #seen = new WeakMap<MediaSource, Look>();

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /**
   * Whether the site's file is what the plan takes it for, by its own bytes.
   * @returns undefined where the plan is to make something else of its sources
   * @throws DomainError when the file cannot be read; the signal's reason
   */
  async look(plan: Plan, { signal, renew }: LookOptions): Promise<Look | undefined> {
    const [source] = plan.inputs;
    if (plan.original === null || source === undefined) return undefined;
    // Asked before its time, the site refuses; whoever streams has waited.
    if (waitMs(plan.inputs, Date.now()) > 0) return undefined;
    const seen = this.#seen.get(source);
    if (seen !== undefined) return seen;
    const ended = new AbortController();
    try {
      const object = this.#upstream.object(source, renew);
      const reader = this.#upstream.reader(object, {
        signal: AbortSignal.any([signal, ended.signal]),
        exit: source.origin?.exit,
      });
      const found = await look(reader, plan);
      this.#seen.set(source, found);
      return found;
    } finally {
      ended.abort(new Error('the look is over'));
    }
  }

  /** Whether the next look is answered from memory. */
  remembers({ inputs: [source] }: Plan): boolean {
    return source !== undefined && this.#seen.has(source);
  }

  /** Forgets a file that turned out to be another one by now. */
  forget({ inputs: [source] }: Plan): void {
    if (source !== undefined) this.#seen.delete(source);
  }
}

async function look(reader: ObjectReader, plan: Plan): Promise<Look> {
  const readAt = windowed(reader);
  await readAt(0, 1);
  const { total, strongEtag } = reader.object.identity;
  // Without a length there is nothing that tells a client that all has come.
  if (total === null) return { isOriginal: false, streams: null };
  const streams = plan.original === 'mp3' ? await mp3Streams(readAt) : await mp4Streams(readAt, total);
  if (streams === null || !isAsAnnounced(streams, plan)) return { isOriginal: false, streams };
  const etag = strongEtag === undefined ? null : `"${digest(strongEtag, String(total))}"`;
  return { isOriginal: true, file: { object: reader.object, totalBytes: total, etag } };
}

/** Reads places of a file through one window, so that what lies together is asked for once. */
export function windowed(reader: ObjectReader): ReadAt {
  let window: Buffer = Buffer.alloc(0);
  let windowStart = 0;
  return async (offset, length) => {
    if (offset < windowStart || offset + length > windowStart + window.length) {
      const wanted = Math.max(length, windowBytes);
      const transfer = await reader.open({ start: offset, end: offset + wanted - 1 });
      const parts: Buffer[] = [];
      try {
        for await (const part of transfer.chunks()) parts.push(part);
      } catch (error) {
        throw failureOf(error);
      }
      window = Buffer.concat(parts);
      windowStart = offset;
    }
    return window.subarray(offset - windowStart, offset - windowStart + length);
  };
}

async function mp4Streams(readAt: ReadAt, totalBytes: number): Promise<readonly ProbedStream[] | null> {
  try {
    const movie = (await findMovie(readAt, totalBytes))?.movie;
    const summary = movie && summarizeMovie(movie);
    // Apple's players do not take HEVC under this name; made anew, it gets the other one.
    if (movie === undefined || summary === undefined || sampleEntryTypes(movie).includes('hev1')) return null;
    return summary.streams;
  } catch (error) {
    if (error instanceof Mp4FormatError || damageCodes.has(errorCode(error) ?? '')) return null;
    throw error;
  }
}

async function mp3Streams(readAt: ReadAt): Promise<readonly ProbedStream[] | null> {
  const tagBytes = id3TagBytes(await readAt(0, 10));
  const sound = await readAt(tagBytes, provingFrames * largestFrameBytes);
  if (!startsWithFrames(sound, provingFrames)) return null;
  const unknown = { width: null, height: null, fps: null, bitrateKbps: null, durationSeconds: null };
  return [{ type: 'audio', codec: 'mp3', isCover: false, ...unknown }];
}

function isAsAnnounced(streams: readonly ProbedStream[], { video, audio }: Plan): boolean {
  const codecOf = (type: ProbedStream['type']) => streams.find((stream) => stream.type === type)?.codec;
  const isSame = (announced: { codec: string } | null, found: string | undefined) =>
    announced === null ? found === undefined : found === codecFamily(announced.codec);
  return isSame(video, codecOf('video')) && isSame(audio, codecOf('audio'));
}

/** Says nothing of what it was made of, so that no site's validator reaches a client. */
export function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 27);
}

const probeMs = 15_000;

/** The streams of a source as ffprobe sees them; undefined where it cannot read them, which ffmpeg then tells better. */
export async function probeStreams(
  source: MediaSource,
  options: { relay: Pick<MediaRelay, 'open'>; tools: MediaTools; abort: StreamAbort; renew: RenewSource },
): Promise<readonly ProbedStream[] | undefined> {
  const { relay, tools, abort, renew } = options;
  const session = relay.open({ signal: abort.signal, renew, exit: source.origin?.exit });
  try {
    const [input] = await session.add(source);
    if (input === undefined) return undefined;
    const { environment } = session;
    return (await probe(tools, input.url, { signal: abort.signal, maxMs: probeMs, environment })).streams;
  } catch (error) {
    abort.signal.throwIfAborted();
    if (session.failure !== undefined) throw session.failure;
    if (error instanceof ProbeError) return undefined;
    throw error;
  } finally {
    session.close();
  }
}

/** The extraction with what is really in the one file that a plan is made of. */
export function withStreams(
  extraction: Extraction,
  { inputs: [source] }: Plan,
  streams: readonly ProbedStream[],
): Extraction {
  const video = streams.find(({ type, isCover }) => type === 'video' && !isCover);
  const audio = streams.find(({ type }) => type === 'audio');
  const found = {
    hasVideo: video !== undefined,
    videoCodec: video?.codec ?? null,
    hasAudio: audio !== undefined,
    audioCodec: audio?.codec ?? null,
  };
  const correct = (format: Format): Format => (format.source === source ? { ...format, ...found } : format);
  const { mp3, 'mp4-720': mp4At720, 'mp4-1080': mp4At1080 } = extraction.selections;
  return {
    ...extraction,
    selections: {
      mp3: mp3.map(correct),
      'mp4-720': mp4At720.map(correct),
      'mp4-1080': mp4At1080.map(correct),
    },
  };
}
