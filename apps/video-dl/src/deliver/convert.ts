import { DomainError } from '@media-services/http-common';
import type { ChildGroup } from '@media-services/processes';
import { InputFactsReader } from '../ffmpeg/input-facts.js';
import type { FfmpegInput } from '../ffmpeg/inputs.js';
import { batchBytes, OutputReader } from '../ffmpeg/output-reader.js';
import { inputDescriptors, startMediaProcess } from '../ffmpeg/process.js';
import { largestOf } from '../formats/mpeg-ts/picture-size.js';
import { UnexpectedMediaError } from '../look/learnt.js';
import { lateAudio, maxHiddenAudioSeconds, maxHiddenVideoSeconds, withInputs } from '../plan/conversion.js';
import type { Plan } from '../plan/plan.js';
import { tooLarge } from '../plan/rejections.js';
import type { RelaySession } from '../relay/session.js';
import { Expectation } from './expectation.js';
import type { StreamJob } from './job.js';
import type { StreamLimits } from '../capacity.js';
import { openInputs, type InputsToOpen, type OpenInput } from './open-inputs.js';
import type { OutputRun, StreamOutput } from './output.js';
import type { Part } from './ranges.js';
import { streamHeaders } from './response.js';
import { assertComplete, assertNoEmptyTrack } from './verification.js';

export interface Conversion extends Omit<InputsToOpen, 'signal'> {
  readonly output: StreamOutput;
  /** The part that the client wants, which extends to the end; null for all. */
  readonly range: Part | null;
  /** Already opened but unread. */
  readonly inputs?: readonly OpenInput[] | undefined;
}

/**
 * Generates a stream with ffmpeg and sends it to the client. Sends no header before the first media byte and
 * doesn't end the response before everything is verified. All its processes have ended when it returns.
 *
 * @throws DomainError or the abort's reason. If headers have been sent by then, the connection must be reset.
 * @throws UnexpectedMediaError if the next request has to be made in another way
 */
export async function convert(job: StreamJob, stream: Conversion): Promise<void> {
  const { output, range, session, tools } = stream;
  const endFirstByte = job.context.timings.start('firstByte');
  const facts = new InputFactsReader();
  const inputs = stream.inputs ?? (await openInputs({ ...stream, signal: job.signal }));
  const plan = withInputs(stream.plan, inputs);
  for (const input of inputs) input.readAhead?.();
  const expected = new Expectation(
    plan.expected,
    inputs.map((input, index) => ({
      input,
      get facts() {
        return facts.inputs[index];
      },
    })),
  );
  const read = withPipes([...inputs, ...(output.extraInputs ?? [])]);
  await using child = await startMediaProcess({
    file: tools.ffmpeg,
    args: output.ffmpegArguments(read, plan),
    feeds: read.flatMap(({ feed }) => feed ?? []),
    environment: session.environment,
    encodesVideo: plan.video?.action === 'transcode',
    signal: job.signal,
    onStderrLine: (line) => facts.readLine(line),
  });
  // Listen before awaiting anything else, because output that nobody reads is discarded.
  const media = new OutputReader(child.stdout);
  const run = await output.begin(expected);
  const send = clientFrom(range?.start ?? 0, job, plan);
  const made = { plan, inputs, facts, run, child };
  let hasBegun = false;
  for await (const parts of readMedia(media, run, job, session)) {
    assertNoChange(made);
    if (!hasBegun) {
      hasBegun = true;
      assertBeginning(made);
      const isIntact = session.failure === undefined && !facts.hasInvalidData && facts.decodeErrors === 0;
      if (isIntact && session.allReceived()) assertNoEmptyTrack(run, expected);
      const header = await run.header?.();
      const headerBytes = (await output.headerBytes?.()) ?? 0;
      endFirstByte();
      const { saveAs } = job.request;
      const { format, file } = output;
      job.begin(streamHeaders(plan, { format, file, range, headerBytes, saveAs }));
      await send(header ? [header] : []);
    }
    await send(parts);
  }
  await assertAudioIsKnown(made);
  assertNoChange(made);
  await assertComplete({ ...stream, ...made, signal: job.signal, output: run, expected });
  const trailer = run.trailer?.();
  await send(trailer ? [trailer] : []);
  await job.end();
}

/** Names the descriptors of inputs that are written into the child. */
function withPipes(inputs: readonly FfmpegInput[]): FfmpegInput[] {
  const descriptors = inputDescriptors.values();
  return inputs.map((input) => {
    if (input.feed === undefined) return input;
    return { ...input, url: `pipe:${descriptors.next().value}` };
  });
}

/** Sends a generated stream without the beginning that the client already has. */
function clientFrom(startByte: number, job: StreamJob, { target }: Plan) {
  const { limits } = job;
  let generatedBytes = 0;
  return async (parts: readonly Buffer[]): Promise<void> => {
    const rests: Buffer[] = [];
    for (const part of parts) {
      const rest = part.subarray(Math.max(0, startByte - generatedBytes));
      generatedBytes += part.length;
      if (rest.length > 0) rests.push(rest);
    }
    if (generatedBytes > limits.maxOutputBytes) throw tooLarge(target, null, limits);
    if (rests.length > 0) await job.send(...rests);
  };
}

/** A stream in the making. */
interface Made {
  readonly plan: Plan;
  readonly inputs: readonly OpenInput[];
  readonly facts: InputFactsReader;
  readonly run: OutputRun;
  readonly child: ChildGroup;
}

const changesInTheMiddle = "The site's media change their tracks or encoding in the middle.";
const startsOtherwise = "The beginning of the site's media differs from what they state.";

/** @throws UnexpectedMediaError if a copied track changes its parameters, or a track that isn't output begins */
function assertNoChange({ plan, inputs, facts }: Made): void {
  const [video, audio] = [inputs[0]?.changes, inputs.at(-1)?.changes];
  const changesAudio = audio?.changesAudio === true;
  if (plan.audio?.action === 'copy' && changesAudio)
    throw new UnexpectedMediaError({ kind: 'changes', track: 'audio' }, changesInTheMiddle);
  const size = plan.video?.action === 'copy' ? largestOf(video?.pictureSizes ?? []) : undefined;
  if (size !== undefined)
    throw new UnexpectedMediaError({ kind: 'changes', track: 'video', size }, changesInTheMiddle);
  const isUntimed =
    plan.target === 'mp3' && plan.expected.clip === null && facts.inputs.at(-1)?.format === 'aac';
  if (isUntimed && changesAudio && plan.audio?.ignoresTimes !== true)
    throw new UnexpectedMediaError({ kind: 'untimed_audio' }, changesInTheMiddle);
  if (plan.video === null || plan.audio !== null) return;
  const late = facts.lateAudio;
  if (late !== null) throw new UnexpectedMediaError({ ...late, kind: 'late_audio' }, changesInTheMiddle);
  const isAwaited = plan.awaitsAudio && audio?.hasAudio === true;
  if (isAwaited || (facts.hasUnknownAudio && inputs.some(({ changes }) => changes.addsAudio)))
    throw new UnexpectedMediaError({ kind: 'late_audio', at: 0, seconds: 0 }, changesInTheMiddle);
  if (inputs.some(({ changes }) => changes.omitsAudio)) throw lateAudio();
}

/**
 * The output must be in the format that its container states, as for MPEG Layer II, which containers name like MP3.
 * It must hide no media, and a clip must begin with its first frame.
 * @throws UnexpectedMediaError
 */
function assertBeginning({ plan, run, inputs }: Made): void {
  const { video, audio, target } = plan;
  const { clip } = plan.expected;
  const startOf = (track: 'video' | 'audio') =>
    run.tracks.find(({ type }) => type === track)?.startSeconds ?? 0;
  // Joined segments have no edit list.
  const mayHide = clip !== null || inputs.every(({ isJoined }) => !isJoined);
  const hides = (track: 'video' | 'audio', seconds: number) =>
    mayHide && plan[track]?.action === 'copy' && startOf(track) < -seconds;
  if (hides('video', maxHiddenVideoSeconds))
    throw new UnexpectedMediaError({ kind: 'changes', track: 'video' }, startsOtherwise);
  const isOther = audio?.action === 'copy' && run.isInFormat === false;
  if (isOther || (target !== 'original' && hides('audio', maxHiddenAudioSeconds)))
    throw new UnexpectedMediaError({ kind: 'changes', track: 'audio' }, startsOtherwise);
  if (clip === null || video === null || clip.readFromSeconds === 0) return;
  const isEmpty = run.tracks.find(({ type }) => type === 'video')?.samples === 0;
  if (isEmpty || startOf('video') > maxHiddenVideoSeconds)
    throw new UnexpectedMediaError({ kind: 'no_key_frame' }, startsOtherwise);
}

/**
 * ffmpeg can copy audio only if it begins soon enough for its sample rate to be found, and encode it only if it begins.
 * @throws UnexpectedMediaError
 */
async function assertAudioIsKnown({ plan, run, inputs, child, facts }: Made): Promise<void> {
  if (run.hasMedia || !facts.hasUnknownAudio || plan.target === 'original' || plan.audio === null) return;
  if ((await child.exited).code === 0) return;
  if (plan.video !== null && inputs.at(-1)?.changes.hasAudio === false)
    throw new UnexpectedMediaError({ kind: 'no_audio' }, startsOtherwise);
  if (plan.audio.action === 'copy')
    throw new UnexpectedMediaError({ kind: 'changes', track: 'audio' }, startsOtherwise);
}

/** The relay retries a silent source several times. After more timeouts than that, ffmpeg itself is considered stuck. */
const maxIdleTimeouts = 6;

/**
 * Yields ffmpeg's output, processed for the client. Holds back headers until there is media.
 *
 * @throws the abort's reason, including when ffmpeg or upstream sends nothing for too long.
 */
async function* readMedia(
  output: OutputReader,
  run: OutputRun,
  job: StreamJob,
  session: RelaySession,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  const held: Buffer[] = [];
  try {
    while (!run.hasMedia) {
      const chunks = await output.next();
      if (chunks === null) break;
      held.push(...chunks.flatMap((chunk) => run.push(chunk)));
    }
    job.signal.throwIfAborted();
    if (!run.hasMedia) return;
    yield held.splice(0);
    // ffmpeg may be silent while its source sends bytes: a fragment may take longer than the timeout to fill.
    const progress = () => ({
      bytes: session.bytesReceived,
      mediaSeconds: Math.max(0, ...run.tracks.map(({ endSeconds }) => endSeconds)),
    });
    const maxMs = job.limits.upstreamIdleTimeoutMs * maxIdleTimeouts;
    using rate = job.watchSource(progress, { maxMs, reason: () => idleTimeout(job.limits) });
    for (;;) {
      const chunks = await rate.during(output.next(batchBytes));
      job.signal.throwIfAborted();
      if (chunks === null) return;
      const parts: Buffer[] = [];
      for (const chunk of chunks) parts.push(...run.push(chunk));
      yield parts;
    }
  } catch (error) {
    // An aborted child's stdout closes early; the abort's reason explains why.
    job.signal.throwIfAborted();
    throw error;
  }
}

function idleTimeout({ upstreamIdleTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `The site's media server sent nothing for ${(upstreamIdleTimeoutMs * maxIdleTimeouts) / 1000} s. Try again later.`,
  );
}
