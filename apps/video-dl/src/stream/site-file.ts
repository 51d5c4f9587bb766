import { createHash } from 'node:crypto';
import type { ProbedStream } from '../containers/mp4/movie-summary.js';
import {
  mapSelections,
  type Extraction,
  type Format,
  type HeadOptions,
  type SourceHead,
  type SourceHeads,
} from '../extract/index.js';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { codecFamily } from '../plan/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { MediaRelay } from '../relay/index.js';
import { waitMs, type MediaSource, type RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
import { formats, type StreamFormat } from './response.js';

/** A file of the site that already is what the client asks for. */
export interface SiteFile {
  readonly object: RemoteObject;
  readonly format: StreamFormat;
  readonly totalBytes: number;
  /** Strong: the same tag means the same bytes. Null where the site's server gives no strong one itself. */
  readonly etag: string | null;
}

/** What a look at a file's head showed: that it can be passed on, or what is in it instead; null where only ffprobe knows. */
export type Look =
  | { readonly isAnswer: true; readonly file: SiteFile }
  | { readonly isAnswer: false; readonly streams: readonly ProbedStream[] | null };

interface LookOptions extends HeadOptions {
  readonly renew: RenewSource;
}

/** Files of the site that seem to be what a client asks for already. */
export class SiteFiles {
  readonly #upstream: Upstream;
  readonly #heads: SourceHeads;

  constructor(upstream: Upstream, heads: SourceHeads) {
    this.#upstream = upstream;
    this.#heads = heads;
  }

  /**
   * Whether the site's file is what the plan takes it for, by its own bytes.
   * @returns undefined where the plan makes something else of its sources
   * @throws DomainError when the file can't be read; the signal's reason
   */
  async look(plan: Plan, options: LookOptions): Promise<Look | undefined> {
    const [source] = plan.inputs;
    if (plan.siteFile === null || source === undefined) return undefined;
    // Asked too early, the site rejects the request; a stream has waited by now.
    if (waitMs(plan.inputs, Date.now()) > 0) return undefined;
    const head = await this.#heads.of(source, options);
    const { totalBytes, identity } = head;
    const judged = plan.siteFile === 'audio' ? judgeAudio(head) : judgeFile(head, plan);
    // Without a length, a client can't see that the file is complete.
    if (plan.expected.clip !== null) return { isAnswer: false, streams: judged.streams };
    if (judged.format === null || totalBytes === null) {
      // A page that says what the audio is need not be checked: what is made of it is verified.
      const isKnown = plan.siteFile === 'audio' && plan.container !== null && judged.streams === null;
      return isKnown ? undefined : { isAnswer: false, streams: judged.streams };
    }
    const { strongEtag } = identity;
    const etag = strongEtag === undefined ? null : `"${digest(strongEtag, String(totalBytes))}"`;
    const object = this.#upstream.object(source, options.renew, identity);
    return { isAnswer: true, file: { format: judged.format, object, totalBytes, etag } };
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

interface Judgement {
  /** Null for a file that is not the answer. */
  readonly format: StreamFormat | null;
  readonly streams: readonly ProbedStream[] | null;
}

function judgeFile({ original, probe: found }: SourceHead, plan: Plan): Judgement {
  if (original !== plan.siteFile || original === null) return { format: null, streams: null };
  const streams = original === 'mp3' ? [mp3Stream] : (found?.streams ?? []);
  return { format: hasAnnouncedStreams(streams, plan) ? formats[original] : null, streams };
}

function judgeAudio({ audioFile, probe: found }: SourceHead): Judgement {
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
};

function hasAnnouncedStreams(streams: readonly ProbedStream[], { video, audio }: Plan): boolean {
  const codecOf = (type: ProbedStream['type']) => streams.find((stream) => stream.type === type)?.codec;
  const isSame = (announced: { codec: string } | null, found: string | undefined) =>
    announced === null ? found === undefined : found === codecFamily(announced.codec);
  return isSame(video, codecOf('video')) && isSame(audio, codecOf('audio'));
}

/** A hash, so that no site's validator reaches a client. */
export function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 27);
}

const probeMs = 15_000;

interface ProbeOptions extends LookOptions {
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
}

/** The streams of a source as ffprobe sees them; undefined where it can't read them, which ffmpeg then explains better. */
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
  const selections = mapSelections(extraction.selections, (selected) => selected.map(correct));
  return { ...extraction, selections };
}
