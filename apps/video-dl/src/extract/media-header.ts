import { DomainError, errorCode } from '@media-services/http-common';
import { readBoxHeader, Mp4FormatError } from '../containers/mp4/box.js';
import { summarizeMovie, type Probe } from '../containers/mp4/movie-summary.js';
import { probe } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { MediaRelay } from '../relay/index.js';
import { untilAvailable } from '../upstream/media-source.js';
import type { OpenFile, Upstream } from '../upstream/upstream.js';
import type { ProbeSource } from './probed-details.js';

export interface ProbeSourceOptions {
  readonly upstream: Pick<Upstream, 'openFile'>;
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
  readonly maxMs: number;
}

function tooSlow(cause: unknown): DomainError {
  const detail = "The beginning of the site's media did not arrive in time. Try again later.";
  return new DomainError('upstream_timeout', detail, { cause });
}

/** Pictures and sound that come apart are one medium all the same. */
function together(probes: readonly Probe[]): Probe {
  const [first] = probes;
  if (first === undefined) throw new Error('a source has an input');
  return { ...first, streams: probes.flatMap(({ streams }) => streams) };
}

/**
 * A look into a medium's header by ffprobe where it is not an MP4 that begins with it.
 * What went wrong upstream is the reason, if something did: the reader sees its effect only.
 */
export function createProbeSource({ upstream, relay, tools, maxMs }: ProbeSourceOptions): ProbeSource {
  return async (source, signal) => {
    const deadline = AbortSignal.timeout(maxMs);
    // No renewal: the URLs are new, and what would renew them is what looks here.
    const ended = new AbortController();
    const options = {
      signal: AbortSignal.any([signal, deadline, ended.signal]),
      exit: source.origin?.exit,
    };
    const session = relay.open(options);
    const endsAt = performance.now() + maxMs;
    try {
      await untilAvailable([source], { signal, maxMs });
      const seen =
        source.kind === 'file' ? await readMp4Header(await upstream.openFile(source, options)) : undefined;
      if (seen !== undefined) return seen;
      const inputs = await session.add(source);
      const { environment } = session;
      const probes = await Promise.all(
        inputs.map(async ({ url, isJoined, statedSeconds }) => {
          const restMs = Math.max(1, Math.ceil(endsAt - performance.now()));
          const found = await probe(tools, url, { signal, maxMs: restMs, environment });
          // The header of joined segments is that of the first.
          return isJoined ? { ...found, durationSeconds: statedSeconds } : found;
        }),
      );
      return together(probes);
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw tooSlow(error);
      throw session.failure ?? error;
    } finally {
      ended.abort(new Error('the look is over'));
    }
  };
}

const maxHeaderBytes = 4 * 1024 * 1024;
/** Reading past the end of a box. */
const damageCodes = new Set(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);
/** Boxes that may lie before `moov` in a file made for streaming. */
const leadingBoxes = new Set(['ftyp', 'free', 'skip', 'wide', 'uuid', 'pdin']);

/**
 * Reads the header of an MP4 that begins with it, without the 80 ms that starting
 * ffprobe takes.
 * @returns undefined for everything else, which ffprobe has to look at
 * @throws what reading the file throws
 */
export async function readMp4Header({ chunks, sizeBytes }: OpenFile): Promise<Probe | undefined> {
  try {
    const moov = await readMovieBox(chunks);
    const summary = moov && summarizeMovie(moov);
    return summary && { ...summary, sizeBytes };
  } catch (error) {
    if (error instanceof Mp4FormatError || damageCodes.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** The `moov` box of a byte stream that begins with it, save for small boxes. */
async function readMovieBox(body: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  let bytes: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of body) {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const header = readBoxHeader(bytes, offset);
      if (header === undefined) break;
      const end = offset + header.size;
      const isMovie = header.type === 'moov';
      if (end > maxHeaderBytes || (!isMovie && !leadingBoxes.has(header.type))) return undefined;
      if (isMovie && bytes.length >= end) return bytes.subarray(offset, end);
      if (isMovie || bytes.length < end) break;
      offset = end;
    }
  }
  return undefined;
}
