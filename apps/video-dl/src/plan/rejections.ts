import { DomainError } from '@media-services/http-common';
import type { Format } from '../extract/types.js';
import { smallerTarget, type Target } from '../targets.js';

export function noAudio(): DomainError {
  return new DomainError(
    'no_media',
    'This video has no audio to send. `/api/info` lists what the page offers.',
  );
}

export function isImages({ videoCodec }: Pick<Format, 'videoCodec'>): DomainError {
  return new DomainError(
    'no_media',
    `This file's video consists of ${videoCodec ?? ''} images, which can't be sent as an MP4. Request an MP3 from \`/api/stream\` if it has audio.`,
  );
}

export function notCopyable(codec: string): DomainError {
  return new DomainError(
    'no_media',
    `This video's audio (${codec}) can't be put into an M4A, Ogg or MP3 file without re-encoding. Request an MP3 instead.`,
  );
}

export function tooLong(seconds: number, maxSeconds: number): DomainError {
  return new DomainError(
    'too_long',
    `The video lasts ${durationText(seconds)}; this service allows at most ${durationText(maxSeconds)}. Use a shorter one, or request a part of it with \`start\` and \`end\`. If you run this server: raise VIDEO_MAX_SECONDS.`,
  );
}

/** `8 h 20 min` */
function durationText(duration: number): string {
  const seconds = Math.ceil(duration);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const stated = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return stated.join(' ');
}

/** The error for a stream over the size limit. @param bytes null if the exact size is unknown */
export function tooLarge(
  target: Target,
  bytes: number | null,
  { maxOutputBytes }: { readonly maxOutputBytes: number },
): DomainError {
  const size = bytes === null ? 'is larger than' : `has about ${mebibytes(bytes)} MiB, more than`;
  const smaller = smallerTarget(target);
  const advice = smaller === undefined ? 'Use a shorter video' : `Request ${smaller}`;
  return new DomainError(
    'too_long',
    `The result ${size} the ${mebibytes(maxOutputBytes)} MiB that this service allows. ${advice}. If you run this server: raise STREAM_MAX_BYTES.`,
  );
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
