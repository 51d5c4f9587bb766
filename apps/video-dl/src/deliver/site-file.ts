import { createHash } from 'node:crypto';
import { lengthOf, mainAudioTrack, streamOf, type ProbedStream } from '../formats/mp4/movie-summary.js';
import type { HeadOptions, SourceHead, SourceHeads } from '../look/source-heads.js';
import type { Extraction, Format } from '../extract/types.js';
import { perTarget } from '../targets.js';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { isSameCodec } from '../plan/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { MediaRelay } from '../relay/media-relay.js';
import { waitMs, type MediaSource, type RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
import { formats, type StreamFormat } from './response.js';

/** A file of the site that is already what the client requested. */
export interface SiteFile {
  readonly object: RemoteObject;
  readonly format: StreamFormat;
  readonly totalBytes: number;
  /** Strong: the same tag means the same bytes. Null if the site's server provides no strong one. */
  readonly etag: string | null;
}

/** What a file's header shows: that it can be sent unchanged, or its actual streams; null if only ffprobe can tell. */
export type Inspection =
  | { readonly isSendable: true; readonly file: SiteFile }
  | { readonly isSendable: false; readonly streams: readonly ProbedStream[] | null };

export interface InspectOptions extends HeadOptions {
  readonly renew: RenewSource;
}

/** Checks whether a site's file can be sent unchanged. */
export class SiteFiles {
  readonly #upstream: Upstream;
  readonly #heads: SourceHeads;

  constructor(upstream: Upstream, heads: SourceHeads) {
    this.#upstream = upstream;
    this.#heads = heads;
  }

  /**
   * Checks by its bytes whether the site's file is what the plan assumes.
   * @returns undefined if the plan generates the stream anyway
   * @throws DomainError when the file can't be read; the signal's reason
   */
  async inspect(plan: Plan, options: InspectOptions): Promise<Inspection | undefined> {
    const [source] = plan.inputs;
    if (plan.siteFile === null || source === undefined) return undefined;
    // The site rejects early requests. A stream has waited by now.
    if (waitMs(plan.inputs, Date.now()) > 0) return undefined;
    const head = await this.#heads.of(source, options);
    const { totalBytes, identity } = head;
    const found = plan.siteFile === 'audio' ? checkAudio(head) : checkFile(head, plan);
    // Without a length, a client can't see that the file is complete.
    if (plan.expected.clip !== null) return { isSendable: false, streams: found.streams };
    if (found.format === null || totalBytes === null) {
      // If the page states the audio codec, there's nothing to check: the generated stream is verified.
      const isKnown = plan.siteFile === 'audio' && plan.container !== null && found.streams === null;
      return isKnown ? undefined : { isSendable: false, streams: found.streams };
    }
    const { strongEtag } = identity;
    const etag = strongEtag === undefined ? null : `"${digest(strongEtag, String(totalBytes))}"`;
    const object = this.#upstream.object(source, options.renew, identity);
    return { isSendable: true, file: { format: found.format, object, totalBytes, etag } };
  }

  /** Whether the file's header is cached. */
  remembers({ inputs: [source] }: Plan): boolean {
    return source !== undefined && this.#heads.has(source);
  }

  /** Drops the cached header of a file that has changed. */
  forget({ inputs: [source] }: Plan): void {
    if (source !== undefined) this.#heads.forget(source);
  }
}

interface FoundFile {
  /** Null if the file can't be sent unchanged. */
  readonly format: StreamFormat | null;
  readonly streams: readonly ProbedStream[] | null;
}

function checkFile({ original, probe: found }: SourceHead, plan: Plan): FoundFile {
  if (original !== plan.siteFile || original === null) return { format: null, streams: null };
  const streams = original === 'mp3' ? [mp3Stream] : (found?.streams ?? []);
  return { format: hasAnnouncedStreams(streams, plan) ? formats[original] : null, streams };
}

function checkAudio({ audioFile, probe: found }: SourceHead): FoundFile {
  return { format: audioFile && formats[audioFile], streams: found?.streams ?? null };
}

const mp3Stream: ProbedStream = {
  type: 'audio',
  codec: 'mp3',
  width: null,
  height: null,
  fps: null,
  bitrateKbps: null,
  durationSeconds: null,
  isCover: false,
  isDefault: true,
};

function hasAnnouncedStreams(streams: readonly ProbedStream[], { video, audio }: Plan): boolean {
  return (
    isSameCodec(streamOf(streams, 'video', video?.track)?.codec, video?.codec) &&
    isSameCodec(streamOf(streams, 'audio', audio?.track)?.codec, audio?.codec)
  );
}

/** A hash, so that the site's validators never reach a client. */
export function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 27);
}

const probeMs = 15_000;

interface ProbeOptions extends InspectOptions {
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
}

/** The streams of a source according to ffprobe; undefined if it can't read them, since ffmpeg reports a better error. */
export async function probeStreams(
  source: MediaSource,
  { relay, tools, signal, renew, client }: ProbeOptions,
): Promise<readonly ProbedStream[] | undefined> {
  const session = relay.open({ signal, renew, exit: source.origin?.exit, client });
  try {
    const [input] = await session.add(source);
    if (input === undefined) return undefined;
    const { environment, parse } = session;
    return (await probe(tools, input.url, { signal, parse, maxMs: probeMs, environment })).streams;
  } catch (error) {
    signal.throwIfAborted();
    if (session.failure !== undefined) throw session.failure;
    if (error instanceof ProbeError) return undefined;
    throw error;
  } finally {
    session.close();
  }
}

/** The extraction, corrected by the actual streams of the plan's only file. */
export function withStreams(
  extraction: Extraction,
  { inputs: [source] }: Plan,
  streams: readonly ProbedStream[],
): Extraction {
  const video = streamOf(streams, 'video');
  const audioTrack = mainAudioTrack(streams);
  const audio = streamOf(streams, 'audio', audioTrack);
  const found = {
    audioTrack,
    hasVideo: video !== undefined,
    videoCodec: video?.codec ?? null,
    hasAudio: audio !== undefined,
    audioCodec: audio?.codec ?? null,
    audioSeconds: video && audio && lengthOf(audio),
  };
  const correct = (format: Format): Format => (format.source === source ? { ...format, ...found } : format);
  const selections = perTarget((target) => extraction.selections[target].map(correct));
  return { ...extraction, selections };
}
