import { createHash } from 'node:crypto';
import type { ProbedStream } from '../containers/mp4/movie-summary.js';
import type { Extraction, Format, HeadOptions, SourceHeads } from '../extract/index.js';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { codecFamily } from '../plan/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { MediaRelay } from '../relay/index.js';
import { waitMs, type MediaSource, type RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
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

interface LookOptions extends HeadOptions {
  readonly renew: RenewSource;
}

/** Looks at files that seem to be the answer already. */
export class Originals {
  readonly #upstream: Upstream;
  readonly #heads: SourceHeads;

  constructor(upstream: Upstream, heads: SourceHeads) {
    this.#upstream = upstream;
    this.#heads = heads;
  }

  /**
   * Whether the site's file is what the plan takes it for, by its own bytes.
   * @returns undefined where the plan is to make something else of its sources
   * @throws DomainError when the file can't be read; the signal's reason
   */
  async look(plan: Plan, options: LookOptions): Promise<Look | undefined> {
    const [source] = plan.inputs;
    if (plan.original === null || source === undefined) return undefined;
    // Asked too early, the site refuses; a stream has waited.
    if (waitMs(plan.inputs, Date.now()) > 0) return undefined;
    const { original, probe: found, totalBytes, identity } = await this.#heads.of(source, options);
    const streams = original === 'mp3' ? [mp3Stream] : (found?.streams ?? []);
    if (original !== plan.original) return { isOriginal: false, streams: null };
    // Without a length nothing tells a client that all has come.
    if (totalBytes === null || !isAsAnnounced(streams, plan)) return { isOriginal: false, streams };
    const { strongEtag } = identity;
    const etag = strongEtag === undefined ? null : `"${digest(strongEtag, String(totalBytes))}"`;
    const object = this.#upstream.object(source, options.renew, identity);
    return { isOriginal: true, file: { object, totalBytes, etag } };
  }

  /** Whether the next look is answered from memory. */
  remembers({ inputs: [source] }: Plan): boolean {
    return source !== undefined && this.#heads.has(source);
  }

  /** Forgets a file that turned out to be another one by now. */
  forget({ inputs: [source] }: Plan): void {
    if (source !== undefined) this.#heads.forget(source);
  }
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
};

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
  options: {
    relay: Pick<MediaRelay, 'open'>;
    tools: MediaTools;
    abort: StreamAbort;
    renew: RenewSource;
    client: string;
  },
): Promise<readonly ProbedStream[] | undefined> {
  const { relay, tools, abort, renew, client } = options;
  const session = relay.open({ signal: abort.signal, renew, exit: source.origin?.exit, client });
  try {
    const [input] = await session.add(source);
    if (input === undefined) return undefined;
    const { environment, parse } = session;
    return (await probe(tools, input.url, { signal: abort.signal, parse, maxMs: probeMs, environment }))
      .streams;
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
