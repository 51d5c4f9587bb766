import { firstFrameSeconds, probe, ProbeError } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { streamOf, type Probe, type ProbedStream } from '../formats/probed.js';
import { startsAfterEnd, type Clip } from '../plan/clip.js';
import { maxHiddenVideoSeconds, type OpenedInput } from '../plan/conversion.js';
import type { Plan } from '../plan/plan.js';
import type { RelayInput, RelaySession } from '../relay/session.js';
import type { StreamOutput } from './output.js';

/** An input of ffmpeg, and what its beginning shows. */
export type OpenInput = RelayInput & OpenedInput;

export interface InputsToOpen {
  readonly plan: Plan;
  readonly output: Pick<StreamOutput, 'file'>;
  readonly session: RelaySession;
  readonly tools: MediaTools;
  readonly signal: AbortSignal;
}

/**
 * The inputs for ffmpeg: one with everything, or video and audio separately. A single source may
 * also deliver the two separately.
 * @throws DomainError, the signal's reason
 */
export async function openInputs({
  plan,
  output,
  session,
  tools,
  signal,
}: InputsToOpen): Promise<readonly OpenInput[]> {
  const { tracks, clip } = plan.expected;
  const unlessUnreadable = (error: unknown): Partial<OpenInput> => {
    signal.throwIfAborted();
    // ffmpeg either reads the file anyway or reports a better error.
    if (error instanceof ProbeError) return { offsetSeconds: 0 };
    throw error;
  };
  const span = clip && { startSeconds: clip.readFromSeconds, endSeconds: clip.endSeconds };
  try {
    const inputs = await Promise.all(
      plan.inputs.map(async (source, index) => {
        const track = tracks[index] ?? 'all';
        const found = await session.add(source, track, span, undefined, output.file?.identity);
        if (index === 0 && plan.video?.action === 'copy') await found[0]?.lookAhead?.();
        if (clip === null) return found;
        return Promise.all(
          found.map(async (input) => {
            const facts = clipFacts(input, { plan, clip, track, session, tools, signal });
            // A copy would have the first values of what the relay learns while ffmpeg reads.
            return Object.assign(input, await facts.catch(unlessUnreadable));
          }),
        );
      }),
    );
    return inputs.flat();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** Containers that index their key frames, or whose audio packets can be found by time. */
const seekable = {
  video: /^(?:mov|matroska)\b/u,
  audio: /^(?:mov|matroska|mp3|ogg|flac|wav|w64|aiff|caf)\b/u,
};
/** Audio decoders need a few packets before their output is correct. */
const audioPrerollSeconds = 0.5;
/** Shorter delays between tracks are ignored, since audio often has an encoder's delay. */
const maxDelaySeconds = 0.25;

interface ClipContext extends Omit<InputsToOpen, 'output'> {
  readonly clip: Clip;
  readonly track: 'all' | 'video' | 'audio';
}

/** In files that it seeks by decode times, ffmpeg seeks to 3/23 s before the time, for codecs with B-frames. */
const bFrameSeconds = 0.131;

/** What a clip of the input depends on. @throws ProbeError; InvalidRequestError if it starts after the end of the media */
async function clipFacts(
  { url, isJoined, keyFrameSeconds = null }: RelayInput,
  { plan, clip, track, session: { environment, parse }, tools, signal }: ClipContext,
): Promise<Partial<OpenInput>> {
  if (isJoined)
    return { startsWithKeyFrame: keyFrameSeconds !== null && isAt(keyFrameSeconds, clip.startSeconds) };
  const options = { signal, parse, environment };
  const found = await probe(tools, url, options);
  assertIsInside(clip, found);
  const type = track === 'audio' ? 'audio' : 'video';
  // Second 0 is the first video frame, even for a clip of the audio alone.
  const first = streamOf(found.streams, 'video') ?? streamOf(found.streams, 'audio');
  const delaySeconds = first?.delaySeconds ?? 0;
  const offsetSeconds = delaySeconds > maxDelaySeconds ? 0 : -delaySeconds;
  const isSought = clip.readFromSeconds > 0 && seekable[type].test(found.formatName);
  const start = clip.startSeconds - offsetSeconds + (found.startSeconds ?? 0);
  const isEarlier = found.formatName.startsWith('matroska') && !/^(?:vp|av1)/u.test(first?.codec ?? '');
  const seconds = isEarlier ? start - bFrameSeconds : start;
  const audio = streamOf(found.streams, 'audio', plan.audio?.track);
  const maySkipEncoder = isSought && type === 'video' && plan.video?.action === 'copy';
  const frame = maySkipEncoder ? await firstFrameSeconds(tools, url, { ...options, seconds }) : null;
  return {
    offsetSeconds,
    prerollSeconds: isSought ? (type === 'audio' ? audioPrerollSeconds : 0) : null,
    startsWithKeyFrame: clip.startSeconds === 0 || (frame !== null && isAt(frame, start)),
    audioSeconds: audio?.durationSeconds ?? null,
    lacksAudio: isOutside(audio, clip),
  };
}

function isAt(seconds: number, wantedSeconds: number): boolean {
  return Math.abs(seconds - wantedSeconds) <= maxHiddenVideoSeconds;
}

/** Of other formats, the plan knows the length already, or ffprobe only estimates it. */
const statesItsEnd = /^(?:ogg|flac|wav|aiff|mpegts)\b/u;

/** The page may state more than its media have. @throws InvalidRequestError */
function assertIsInside({ startSeconds }: Clip, { formatName, durationSeconds }: Probe): void {
  if (!statesItsEnd.test(formatName) || durationSeconds === null) return;
  if (startSeconds >= durationSeconds) throw startsAfterEnd(durationSeconds);
}

/** Whether a stream ends before the clip or starts after it: it states that, within the usual tolerance, or starts late. */
function isOutside(stream: ProbedStream | undefined, { startSeconds, endSeconds }: Clip): boolean {
  if (stream?.isUnseen === true) return true;
  if (stream?.durationSeconds == null) return false;
  const { delaySeconds = 0, durationSeconds } = stream;
  return (
    startSeconds > delaySeconds + durationSeconds - maxDelaySeconds ||
    (endSeconds ?? Infinity) < delaySeconds + maxDelaySeconds
  );
}
