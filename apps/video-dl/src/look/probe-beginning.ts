import { probe, ProbeError, type ProbeOptions } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Probe, ProbedStream } from '../formats/probed.js';
import type { ReadHead } from './source-heads.js';

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
    const sizeBytes = head.totalBytes;
    return {
      ...found,
      durationSeconds,
      sizeBytes,
      streams: withRest(found.streams, sizeBytes, durationSeconds),
    };
  } catch (error) {
    if (error instanceof ProbeError) return null;
    throw error;
  }
}

function isKnown({ type, width, isUnseen }: ProbedStream): boolean {
  return type === 'video' ? width !== null : isUnseen !== true;
}

/** AVI's index states the bit rate of the video: what the audio leaves of the file. */
function withRest(streams: ProbedStream[], bytes: number | null, seconds: number | null): ProbedStream[] {
  const [unknown, second] = streams.filter(({ bitrateKbps }) => bitrateKbps === null);
  if (unknown?.type !== 'video' || second !== undefined || bytes === null || seconds === null) return streams;
  const others = streams.reduce((sum, { bitrateKbps }) => sum + (bitrateKbps ?? 0), 0);
  const bitrateKbps = Math.max(0, Math.round((bytes * 8) / seconds / 1000) - others) || null;
  return streams.map((stream) => (stream === unknown ? { ...stream, bitrateKbps } : stream));
}
