import { DomainError } from '@media-services/http-common';
import type { Probe, ProbedStream } from '../formats/probed.js';
import { probe, ProbeError, type ProbeOptions } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { MediaRelay } from '../relay/media-relay.js';
import { untilAvailable } from '../upstream/media-source.js';
import type { ProbeSource } from '../extract/probed-details.js';
import { ChangedFileError } from '../upstream/transfer-fault.js';
import { notInOnePass } from './one-shot.js';
import type { ReadHead, SourceHead, SourceHeads } from './source-heads.js';

export interface ProbeSourceOptions {
  readonly heads: SourceHeads;
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
  readonly maxMs: number;
}

function tooSlow(cause: unknown): DomainError {
  const detail = "The site's media server was too slow. Try again later.";
  return new DomainError('upstream_timeout', detail, { cause });
}

/** A complete file stays unreadable. One without a stated size may have been truncated, so a retry may help. */
function readError(cause: unknown, isWhole: boolean): unknown {
  if (!(cause instanceof ProbeError)) return cause;
  const noMedia =
    "The URL leads to a file that isn't media, or is damaged. Check that it plays in a browser.";
  const unreadable = "The site's media can't be read. Check that it plays in a browser, or try again later.";
  return cause.isFinal && isWhole
    ? new DomainError('no_media', noMedia, { cause })
    : new DomainError('upstream_error', unreadable, { cause });
}

/** Containers whose headers state the length. ffprobe estimates that of others, from bit rates or timestamps. */
const statesLength = /^(?:mov|matroska|ogg|flac|wav|aiff)\b/u;

function corrected(found: Probe, head: SourceHead | undefined): Probe {
  if (head === undefined || head.correctedLength === null)
    return { ...found, isExact: head?.probe != null || statesLength.test(found.formatName) };
  const { seconds } = head.correctedLength;
  return { ...found, durationSeconds: seconds, isExact: false, statesWrongLength: true };
}

/** What the header of one response says about a file that differs with each. @throws DomainError */
function withoutLength(head: SourceHead): Probe {
  if (head.probe === null) throw notInOnePass();
  return { ...head.probe, durationSeconds: null, sizeBytes: null };
}

/** Joined segments have only the header of the first. From it and the beginning of fragments, ffprobe computes bit rates. */
function ofWhole(found: Probe, durationSeconds: number | null): Probe {
  const hasRates = !found.formatName.startsWith('mov');
  const streams = hasRates
    ? found.streams
    : found.streams.map((stream) => ({ ...stream, bitrateKbps: null }));
  return { ...found, streams, durationSeconds, isExact: true };
}

/**
 * Reads a source's header, with ffprobe if our own reader doesn't know the format. An upstream
 * failure takes precedence over the read error it causes, whose cause is a ProbeError. An extraction has
 * fresh URLs, and their renewal would call this function again.
 */
export function createProbeSource({ heads, relay, tools, maxMs }: ProbeSourceOptions): ProbeSource {
  return async (source, { signal, client, renew }) => {
    const deadline = AbortSignal.timeout(maxMs);
    const ended = new AbortController();
    const options = {
      signal: AbortSignal.any([signal, deadline, ended.signal]),
      exit: source.origin?.exit,
      client,
      renew,
    };
    const session = relay.open(options);
    let isWhole = true;
    try {
      await untilAvailable([source], { signal, maxMs });
      const read = source.kind === 'file' ? await heads.withBytes(source, options) : undefined;
      const head = read?.head;
      isWhole = head === undefined || head.totalBytes !== null;
      if (head?.isOneShot === true && !statesLength.test(head.probe?.formatName ?? ''))
        return withoutLength(head);
      const { environment, parse } = session;
      const probing = { signal: options.signal, parse, maxMs };
      if (read !== undefined) {
        const { probe: own, totalBytes } = read.head;
        const found = own ? { ...own, sizeBytes: totalBytes } : await probeBeginning(tools, read, probing);
        if (found !== null) return corrected(found, head);
      }
      // Only the first segments are read, and an MP3 doesn't need those of one encoding.
      const inputs = await session.add(source, 'all', null, true);
      const probes = await Promise.all(
        inputs.map(async ({ url, probing: analysis, isJoined, statedSeconds }) => {
          const found = await probe(tools, url, { ...probing, analysis, environment });
          return isJoined ? ofWhole(found, statedSeconds ?? null) : corrected(found, head);
        }),
      );
      const [first] = probes;
      if (first === undefined) throw new Error('a source has an input');
      // Audio and video may be separate.
      return { ...first, streams: probes.flatMap(({ streams }) => streams) };
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw tooSlow(error);
      if (session.failure instanceof ChangedFileError) {
        heads.markOneShot([source]);
        return withoutLength(await heads.of(source, options));
      }
      throw session.failure ?? readError(error, isWhole);
    } finally {
      ended.abort(new Error('the header has been read'));
    }
  };
}

/** Containers that list all tracks at their beginning. */
const listsTracks = /^(?:matroska|avi|flac|wav|ogg|mp3|aac|wv|tta)/u;

/**
 * What ffprobe says about the beginning of a file that was read already.
 * @returns null if it has to read more
 * @throws DomainError; the signal's reason
 */
export async function probeBeginning(
  tools: MediaTools,
  { head, pieces: [beginning] }: ReadHead,
  options: ProbeOptions,
): Promise<Probe | null> {
  if (beginning === undefined) return null;
  try {
    const found = await probe(tools, beginning.bytes, options);
    const durationSeconds = head.lengthSeconds ?? found.durationSeconds;
    const isEnough =
      listsTracks.test(found.formatName) && found.streams.length > 0 && found.streams.every(isKnown);
    if (!isEnough || (durationSeconds ?? head.correctedLength) === null) return null;
    return { ...found, durationSeconds, sizeBytes: head.totalBytes };
  } catch (error) {
    if (error instanceof ProbeError) return null;
    throw error;
  }
}

function isKnown({ type, width, isUnseen }: ProbedStream): boolean {
  return type === 'video' ? width !== null : isUnseen !== true;
}
