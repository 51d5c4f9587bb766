import type { Extraction, Format } from '../extract/types.js';
import { lengthOf, mainAudioTrack, streamOf, type ProbedStream } from '../formats/probed.js';
import type { Facts, SourceFacts } from '../look/look.js';
import { perTarget } from '../targets.js';
import { isSameCodec } from './codecs.js';

/** The extraction with what its files really are in place of what the page says about them. */
export function withFacts(extraction: Extraction, facts: Facts): Extraction {
  if (facts.size === 0) return extraction;
  const correct = (format: Format): Format => {
    const { streams = null } = facts.get(format.source) ?? {};
    return streams === null ? format : withStreams(format, streams);
  };
  const seconds = [...facts.values()].map(exactSeconds);
  const isExact = seconds.every((length) => length !== null);
  return {
    ...extraction,
    ...(isExact && { durationSeconds: Math.max(...seconds.map(Number)), durationSource: 'media' }),
    selections: perTarget((target) => extraction.selections[target].map(correct)),
  };
}

function withStreams(format: Format, streams: readonly ProbedStream[]): Format {
  const video = streamOf(streams, 'video', format.videoTrack);
  const audioTrack = mainAudioTrack(streams);
  const audio = streamOf(streams, 'audio', audioTrack);
  const codecOf = (found: ProbedStream | undefined, stated: string | null) =>
    stated !== null && isSameCodec(found?.codec, stated) ? stated : (found?.codec ?? null);
  return {
    ...format,
    audioTrack,
    hasVideo: video !== undefined,
    hdr: video?.hdr ?? format.hdr,
    videoCodec: codecOf(video, format.videoCodec),
    hasAudio: audio !== undefined,
    audioCodec: codecOf(audio, format.audioCodec),
    audioSeconds: video && audio && lengthOf(audio),
    isAudioAbsent: audio?.isAbsent,
    hiddenVideoSeconds: video?.hiddenSeconds,
    hiddenAudioSeconds: audio?.hiddenSeconds,
  };
}

/** The length that a file's index proves; null for any other file. */
function exactSeconds({ head: { probe, correctedLength } }: SourceFacts): number | null {
  return probe?.formatName.startsWith('mov') === true && correctedLength === null
    ? probe.durationSeconds
    : null;
}
