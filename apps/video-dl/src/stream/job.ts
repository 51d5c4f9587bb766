import type { ServerResponse } from 'node:http';
import { DomainError, type Logger, type StageTimings } from '@media-services/http-common';
import { mp3Arguments, mp4Arguments } from '../ffmpeg/arguments.js';
import { InputFactsReader } from '../ffmpeg/input-facts.js';
import { startMediaProcess } from '../ffmpeg/process.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { tooLarge, type Plan } from '../plan/plan.js';
import type { MediaRelay, RelayInput, RelaySession, RenewSource } from '../relay/index.js';
import { exactHeader, isAsReckoned, missingFrames, type ExactMp3 } from './exact-mp3.js';
import type { FirstByteDeadline, StreamAbort, StreamLimits } from './limits.js';
import { estimateMp3HeaderBytes, makeMp3Header } from './mp3-header.js';
import { mp3Output, mp4Output, readMedia, type MediaOutput } from './output.js';
import type { Selection } from './ranges.js';
import { clientWriter, streamHeaders } from './response.js';
import { announcedSeconds, announcedSoundSeconds, type ExpectedInput } from './shortfall.js';
import { assertComplete } from './verification.js';

/** What a stream works with. */
export interface StreamJob {
  readonly plan: Plan;
  readonly response: ServerResponse;
  readonly abort: StreamAbort;
  /** Met with the first byte. */
  readonly deadline: FirstByteDeadline;
  readonly session: RelaySession;
  readonly relay: Pick<MediaRelay, 'open'>;
  /** For what is read of the media outside of the session. */
  readonly renew: RenewSource;
  readonly tools: MediaTools;
  readonly limits: StreamLimits;
  readonly logger: Logger;
  readonly timings: StageTimings;
  onBytes(bytes: number): void;
  /** Whether others wait for a slot. */
  readonly isCrowded: () => boolean;
  /** The picture for the tag of an MP3. */
  readonly cover: Promise<Uint8Array | null>;
  /** For an MP3 whose length is promised. */
  readonly exact: ExactMp3 | null;
  /** The part of such an MP3 that the client wants; a part always goes up to the end. */
  readonly selection: Selection;
}

/**
 * Makes a stream and hands it to the client: no header before the first media
 * byte, no end before the whole is verified. Everything it starts has ended when
 * it returns.
 *
 * @throws DomainError what failed, or the abort's reason. If headers have been sent by then, the connection must be reset.
 */
export async function runStreamJob(job: StreamJob): Promise<void> {
  const endFirstByte = job.timings.start('firstByte');
  void job.session.failed.then((failure) => job.abort.abort(failure));
  try {
    await makeStream(job, endFirstByte);
  } catch (error) {
    if (!(error instanceof HiddenStart)) throw error;
    await makeStream({ ...job, plan: error.plan }, endFirstByte);
  }
}

/** What is copied begins with media that only an edit list hides; encoded anew, it begins where it should. */
class HiddenStart extends Error {
  override readonly name = 'HiddenStart';
  readonly plan: Plan;

  constructor(plan: Plan) {
    super('the media begin with what only an edit list hides');
    this.plan = plan;
  }
}

/** An encoder's delay is shorter, HE-AAC included, except at low sample rates. */
const maxHiddenAudioSeconds = 0.15;
/** Less than a frame. */
const maxHiddenVideoSeconds = 0.01;

/**
 * Players differ in whether they follow the edit list of a fragmented MP4; ffmpeg doesn't. So a trimmed
 * file must not come back with what was cut away, and we encode the tracks that begin with it.
 */
function assertShowsItsStart({ plan }: StreamJob, output: MediaOutput, inputs: readonly RelayInput[]): void {
  // Segments are read once.
  if (inputs.some(({ isJoined }) => isJoined)) return;
  const { video, audio } = plan;
  const hidesVideo = video?.action === 'copy' && output.hiddenSeconds('video') > maxHiddenVideoSeconds;
  const hidesAudio = audio?.action === 'copy' && output.hiddenSeconds('audio') > maxHiddenAudioSeconds;
  if (!hidesVideo && !hidesAudio) return;
  throw new HiddenStart({
    ...plan,
    video: hidesVideo ? { ...video, action: 'transcode' } : video,
    audio: hidesAudio ? { ...audio, action: 'transcode' } : audio,
    estimatedBytes: hidesVideo ? null : plan.estimatedBytes,
  });
}

async function makeStream(job: StreamJob, endFirstByte: () => void): Promise<void> {
  const { plan, abort, session } = job;
  const facts = new InputFactsReader();
  const inputs = await openInputs(job);

  await using child = await startMediaProcess({
    file: job.tools.ffmpeg,
    args: ffmpegArguments(job, inputs),
    environment: session.environment,
    encodesVideo: plan.video?.action === 'transcode',
    signal: abort.signal,
    onStderrLine: (line) => facts.readLine(line),
  });
  const expected = (): ExpectedInput[] =>
    inputs.map((input, index) => ({ input, facts: facts.inputs[index] }));
  const knownSeconds = (): number | null => announcedSeconds(expected(), plan.durationSeconds);
  const output = plan.target === 'mp3' ? mp3Output(job.exact?.sound.totalBytes) : mp4Output(knownSeconds);
  const writer = clientWriter(job.response, job);
  const media = readMedia(child, output, job);

  let { exact } = job;
  let sentBytes = 0;
  let firstPart: Buffer | undefined;
  let held: Buffer | undefined;
  // A part is made from the beginning, and what the client has already is not sent again.
  let toSkip = 0;
  const send = async (part: Buffer): Promise<void> => {
    const rest = part.subarray(Math.min(toSkip, part.length));
    toSkip -= part.length - rest.length;
    sentBytes += part.length;
    if (sentBytes > job.limits.maxOutputBytes) throw tooLarge(plan.target, 'has more bytes', job.limits);
    if (rest.length === 0) return;
    job.onBytes(rest.length);
    await writer.write(rest);
  };
  for await (const part of media) {
    if (firstPart === undefined) {
      assertShowsItsStart(job, output, inputs);
      firstPart = part;
      const picture = await job.cover;
      abort.signal.throwIfAborted();
      job.deadline[Symbol.dispose]();
      endFirstByte();
      // Another encoder than the one that the length was reckoned for promises nothing.
      if (exact !== null && !isAsReckoned(part, exact)) exact = null;
      const selection = exact === null ? ({ kind: 'whole' } as const) : job.selection;
      if (selection.kind === 'part') toSkip = selection.start;
      const headerBytes = estimateMp3HeaderBytes(plan, picture);
      const answer = { file: exact?.file ?? null, selection, headerBytes };
      job.response.writeHead(selection.kind === 'part' ? 206 : 200, streamHeaders(plan, answer));
      if (plan.target === 'mp3') {
        const exactSeconds = announcedSoundSeconds(expected());
        const lengths = { durationSeconds: knownSeconds(), exactSeconds };
        const header = exact
          ? exactHeader(part, exact)
          : makeMp3Header(plan, { cover: picture, ...lengths, sound: part });
        await send(header);
      }
    }
    // With a stated length the last byte ends the response, so the end waits for the verification.
    if (exact === null) await send(part);
    else if (held !== undefined) await send(held);
    held = part;
  }
  await assertComplete({ ...job, child, output, facts, inputs: expected() });
  if (exact !== null && firstPart !== undefined && held !== undefined) {
    await send(held);
    await send(missingFrames(firstPart, output.frames, exact));
    if (sentBytes !== exact.file.totalBytes) throw unlikeReckoned();
  }
  await writer.end();
}

/**
 * What ffmpeg reads: one input with everything, or two, the pictures and the sound.
 * A source may itself bring the two apart.
 * @throws DomainError, the abort's reason
 */
async function openInputs({ plan, session, abort }: StreamJob): Promise<readonly RelayInput[]> {
  const wanted =
    plan.target === 'mp3'
      ? (['audio'] as const)
      : plan.inputs.length === 1
        ? (['all'] as const)
        : (['video', 'audio'] as const);
  try {
    const inputs = await Promise.all(
      plan.inputs.map(async (source, index) => {
        const track = wanted[index] ?? 'all';
        const found = await session.add(source, track);
        return track === 'all' ? found : [withTrack(found, track)];
      }),
    );
    return inputs.flat();
  } catch (error) {
    abort.signal.throwIfAborted();
    throw error;
  }
}

function withTrack(inputs: readonly RelayInput[], track: 'video' | 'audio'): RelayInput {
  const input = inputs.find(({ carries }) => carries === 'all' || carries === track);
  if (input === undefined) throw new Error(`a plan has an input with ${track}`);
  return input;
}

function ffmpegArguments({ plan, tools, exact }: StreamJob, inputs: readonly RelayInput[]): string[] {
  const [input] = inputs;
  if (plan.target !== 'mp3') {
    const metadata = { title: plan.title, artist: plan.uploader, comment: plan.webpageUrl };
    return mp4Arguments(inputs, plan, metadata, tools);
  }
  if (input === undefined || plan.audio === null) throw new Error('a plan for MP3 has an input with sound');
  return mp3Arguments(input, plan.audio, tools, exact);
}

function unlikeReckoned(): DomainError {
  return new DomainError('upstream_error', "The site's sound is not what its file states. Try again later.");
}
