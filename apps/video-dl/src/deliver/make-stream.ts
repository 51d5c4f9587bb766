import { DomainError } from '@media-services/http-common';
import type { ChildGroup } from '@media-services/processes';
import { streamOf, type Probe, type ProbedStream } from '../formats/probed.js';
import { InputFactsReader } from '../ffmpeg/input-facts.js';
import { batchBytes, OutputReader } from '../ffmpeg/output-reader.js';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import { startMediaProcess } from '../ffmpeg/process.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { startsBehind, type Clip } from '../plan/clip.js';
import { tooLarge, type Plan } from '../plan/plan.js';
import { lateAudio, withEncodedAudio, withEncodedVideo, type Remedy } from '../plan/remedy.js';
import type { MediaRelay } from '../relay/media-relay.js';
import type { RelayInput, RelaySession } from '../relay/session.js';
import { Expectation, type ExpectedInput } from './expectation.js';
import type { StreamJob } from './job.js';
import type { StreamLimits } from '../capacity.js';
import type { OutputRun, StreamOutput } from './output.js';
import type { Selection } from './ranges.js';
import { streamHeaders } from './response.js';
import { assertComplete, assertNoEmptyTrack } from './verification.js';

export interface StreamToMake {
  readonly plan: Plan;
  readonly output: StreamOutput;
  /** The part that the client wants. It always extends to the end. */
  readonly selection: Selection;
  readonly session: RelaySession;
  /** To read a source again. */
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
  /** Already opened but unread. */
  readonly inputs?: readonly OpenInput[] | undefined;
}

interface OpenInput extends RelayInput {
  /** For a seekable file: how long before the clip to start reading. */
  readonly prerollSeconds?: number | null;
  /** For a file: whether its audio ends before the clip or starts after it, as it states. */
  readonly lacksAudio?: boolean;
}

/**
 * The beginning of the output shows that another plan is needed: it would start too early, with media that
 * only an edit list hides, or too late, or isn't in the format that its container states. Or what follows
 * needs another plan, because the source changes in the middle.
 */
export class WrongPlanError extends Error {
  override readonly name = 'WrongPlanError';
  readonly plan: Plan;
  /** Opened inputs that weren't read. */
  readonly inputs: readonly OpenInput[] | undefined;
  /** The change to the plan, if any later stream of the source needs the same. */
  readonly remedy: Remedy | undefined;

  constructor(plan: Plan, { inputs, remedy }: Partial<Pick<WrongPlanError, 'inputs' | 'remedy'>> = {}) {
    super('the output needs another plan');
    this.plan = plan;
    this.inputs = inputs;
    this.remedy = remedy;
  }
}

/**
 * Generates a stream and sends it to the client. Sends no header before the first media byte and
 * doesn't end the response before everything is verified. All its processes have ended when it returns.
 *
 * @throws DomainError or the abort's reason. If headers have been sent by then, the connection must be reset.
 * @throws WrongPlanError with the plan to use instead; after a header only if it has a remedy
 */
export async function makeStream(job: StreamJob, stream: StreamToMake): Promise<void> {
  const { plan, output, session, tools } = stream;
  const endFirstByte = job.context.timings.start('firstByte');
  const facts = new InputFactsReader();
  const inputs = stream.inputs ?? (await openInputs(job, stream));
  assertCanCopy(plan, inputs);
  for (const input of inputs) input.readAhead();
  const expected = new Expectation(
    plan.expected,
    inputs.map((input, index) => expectedInput(input, index, facts)),
  );
  await using child = await startMediaProcess({
    file: tools.ffmpeg,
    args: output.ffmpegArguments(inputs),
    environment: session.environment,
    encodesVideo: plan.video?.action === 'transcode',
    signal: job.signal,
    onStderrLine: (line) => facts.readLine(line),
  });
  const run = await output.begin(expected);
  const client = new PartialWriter(job, plan);
  let hasBegun = false;
  for await (const parts of readMedia(child, run, job, session)) {
    assertNoChange(plan, { inputs, facts });
    if (!hasBegun) {
      hasBegun = true;
      assertIsMp3(plan, run);
      assertNoHiddenStart(plan, run, inputs);
      assertStartsOnTime(plan, run);
      const isIntact = session.failure === undefined && !facts.hasInvalidData && facts.decodeErrors === 0;
      if (isIntact) assertHasAudio(plan, run, { inputs, expected, session });
      if (isIntact && session.allReceived()) assertNoEmptyTrack(run, plan.expected);
      const header = await run.header();
      const headerBytes = await output.headerBytes();
      endFirstByte();
      const selection = run.file === null ? ({ kind: 'whole' } as const) : stream.selection;
      if (selection.kind === 'part') client.bytesToSkip = selection.start;
      const { saveAs } = job.request;
      const described = { format: output.format, file: run.file, selection, headerBytes, saveAs };
      job.begin(selection.kind === 'part' ? 206 : 200, streamHeaders(plan, described));
      await client.send([header]);
    }
    await client.send(parts);
  }
  await assertVideoIsKnown(plan, { run, inputs, child, facts, session });
  await assertAudioIsKnown(plan, { run, inputs, child, facts, session });
  assertNoChange(plan, { inputs, facts });
  const { signal, renew, request } = job;
  const finished = { ...stream, signal, renew, client: request.client, child, output: run, facts, expected };
  await assertComplete(finished);
  await client.send([run.trailer()]);
  await job.end();
}

function expectedInput(input: RelayInput, index: number, facts: InputFactsReader): ExpectedInput {
  return {
    input,
    get facts() {
      return facts.inputs[index];
    },
  };
}

/** Sends a generated stream without the beginning that the client already has. */
class PartialWriter {
  bytesToSkip = 0;
  #generatedBytes = 0;
  readonly #job: StreamJob;
  readonly #plan: Plan;

  constructor(job: StreamJob, plan: Plan) {
    this.#job = job;
    this.#plan = plan;
  }

  async send(parts: readonly Buffer[]): Promise<void> {
    const rests: Buffer[] = [];
    for (const part of parts) {
      this.#generatedBytes += part.length;
      const rest = part.subarray(Math.min(this.bytesToSkip, part.length));
      this.bytesToSkip -= part.length - rest.length;
      if (rest.length > 0) rests.push(rest);
    }
    const { limits } = this.#job;
    if (this.#generatedBytes > limits.maxOutputBytes)
      throw tooLarge(this.#plan.target, 'has more bytes', limits);
    if (rests.length > 0) await this.#job.send(...rests);
  }
}

/** Containers name MPEG Layer II like MP3, and ffmpeg copies it. */
function assertIsMp3(plan: Plan, run: OutputRun): void {
  if (plan.audio?.action !== 'copy' || run.isInFormat !== false) return;
  throw new WrongPlanError(withEncodedAudio(plan));
}

interface MadeSoFar {
  readonly run: OutputRun;
  readonly inputs: readonly RelayInput[];
  readonly facts: InputFactsReader;
}

/** @throws WrongPlanError if a copied track changes its parameters in the middle, or a track that isn't output begins there */
function assertNoChange(plan: Plan, { inputs, facts }: Pick<MadeSoFar, 'inputs' | 'facts'>): void {
  const isChanged = {
    video: inputs[0]?.changes.changed?.has('video'),
    audio: inputs.at(-1)?.changes.changed?.has('audio'),
  };
  for (const track of ['video', 'audio'] as const)
    if (plan[track]?.action === 'copy' && isChanged[track]) throw wrongPlan(plan, { kind: 'encode', track });
  const isUntimed =
    plan.target === 'mp3' && plan.expected.clip === null && facts.inputs.at(-1)?.format === 'aac';
  if (isUntimed && isChanged.audio && plan.audio?.ignoresTimes !== true)
    throw wrongPlan(plan, { kind: 'untimed_audio' });
  if (plan.video === null || plan.audio !== null) return;
  const late = facts.lateTracks.find(({ kind }) => kind === 'audio');
  if (late !== undefined) throw wrongPlan(plan, { ...late, kind: 'late_audio' });
  if (facts.hasUnknownAudio && inputs.some(({ changes }) => changes.added?.has('audio')))
    throw wrongPlan(plan, { kind: 'late_audio', at: 0, seconds: 0 });
  if (inputs.some(({ changes }) => changes.omitted?.has('audio'))) throw lateAudio();
}

function wrongPlan(plan: Plan, remedy: Remedy): WrongPlanError {
  return new WrongPlanError(plan, { remedy });
}

interface MadeByChild extends MadeSoFar {
  readonly child: Pick<ChildGroup, 'exited'>;
  readonly session: RelaySession;
}

/** ffmpeg can copy video only if it learns its size, for which it usually decodes no more than a key frame. */
async function assertVideoIsKnown(plan: Plan, { run, inputs, child, facts }: MadeByChild): Promise<void> {
  const skipsFrames = plan.video?.action === 'copy' && plan.video.lacksKeyFrame !== true;
  if (run.hasMedia || !facts.hasUnknownVideo || !skipsFrames) return;
  if (inputs[0]?.hasTransportVideo !== true || (await child.exited).code === 0) return;
  throw wrongPlan(plan, { kind: 'no_key_frame' });
}

/** ffmpeg can copy audio only if it begins soon enough for its sample rate to be found, and encode it only if it begins. */
async function assertAudioIsKnown(
  plan: Plan,
  { run, inputs, child, facts, session }: MadeByChild,
): Promise<void> {
  if (run.hasMedia || !facts.hasUnknownAudio || plan.target === 'original' || plan.audio === null) return;
  if ((await child.exited).code === 0) return;
  if (plan.audio.action === 'copy') throw wrongPlan(plan, { kind: 'encode', track: 'audio' });
  if (plan.video !== null && isRead(inputs, session) && inputs[0]?.changes.hasAudio === false)
    throw wrongPlan(plan, { kind: 'no_audio' });
}

/** Whether everything of the only input has arrived. */
function isRead({ length }: readonly RelayInput[], session: RelaySession): boolean {
  return length === 1 && session.allReceived();
}

/** An encoder's delay is shorter, including HE-AAC, except at low sample rates. */
const maxHiddenAudioSeconds = 0.15;
/** Less than a frame. */
const maxHiddenVideoSeconds = 0.01;

/**
 * Some players ignore the edit list of a fragmented MP4, and so does ffmpeg. To keep trimmed media
 * hidden, we re-encode tracks that start with it. Original audio only loses whole packets.
 */
function assertNoHiddenStart(plan: Plan, run: OutputRun, inputs: readonly RelayInput[]): void {
  // Segments are read once, except for a clip.
  if (plan.expected.clip === null && inputs.some(({ isJoined }) => isJoined)) return;
  const { video, audio } = plan;
  const hidesVideo = video?.action === 'copy' && run.startSeconds('video') < -maxHiddenVideoSeconds;
  const hidesAudio = audio?.action === 'copy' && run.startSeconds('audio') < -maxHiddenAudioSeconds;
  if (!hidesVideo && !hidesAudio) return;
  if (plan.target === 'original') {
    if (hidesAudio && audio.skipsHidden !== true)
      throw new WrongPlanError({ ...plan, audio: { ...audio, skipsHidden: true } });
    return;
  }
  const encoded = hidesVideo ? withEncodedVideo(plan) : plan;
  throw new WrongPlanError({ ...encoded, audio: hidesAudio ? { ...audio, action: 'transcode' } : audio });
}

/** A copy that starts longer than this before the clip would show frames outside it. */
const maxCopiedLeadSeconds = 0.25;

/** @throws WrongPlanError for a clip that must be encoded, before any of it is read */
function assertCanCopy(plan: Plan, inputs: readonly OpenInput[]): void {
  const { clip } = plan.expected;
  const [input] = inputs;
  if (clip === null || plan.video?.action !== 'copy' || input === undefined) return;
  const isSought = input.prerollSeconds != null;
  if (!isSought && clip.startSeconds - (input.offsetSeconds ?? 0) > maxCopiedLeadSeconds)
    throw new WrongPlanError(withEncodedVideo(plan), { inputs });
}

/**
 * After seeking there may be no key frame before the clip. Then its first frame is missing, or all of them.
 * Reading from the start of the file fixes that.
 */
function assertStartsOnTime(plan: Plan, run: OutputRun): void {
  const { clip } = plan.expected;
  if (clip === null || plan.video === null || clip.readFromSeconds === 0) return;
  const video = run.tracks.find(({ type }) => type === 'video');
  if (video?.samples !== 0 && run.startSeconds('video') <= maxHiddenVideoSeconds) return;
  const encoded = withEncodedVideo(plan);
  throw new WrongPlanError({
    ...encoded,
    expected: { ...encoded.expected, clip: { ...clip, readFromSeconds: 0 } },
  });
}

/**
 * A clip may lie where a video has no audio, and a recording may state audio that it never had. Many players show an
 * error for a track without samples, so such a stream gets none. The file of a clip must state that, or its segments
 * must have shown it: the audio may also be missing.
 * ffmpeg writes no header before each track has a sample or has ended.
 */
function assertHasAudio(
  plan: Plan,
  run: OutputRun,
  {
    inputs,
    expected,
    session,
  }: { inputs: readonly OpenInput[]; expected: Expectation; session: RelaySession },
): void {
  if (plan.video === null || plan.audio === null) return;
  if (!run.tracks.some(({ type, samples }) => type === 'audio' && samples === 0)) return;
  if (plan.expected.clip === null) {
    if (isRead(inputs, session)) throw wrongPlan(plan, { kind: 'no_audio' });
    return;
  }
  const input = inputs.at(-1);
  const hasNone = input?.isJoined
    ? !expected.shortfalls(run.tracks).some(({ track }) => track.type === 'audio')
    : input?.lacksAudio === true;
  if (hasNone) throw new WrongPlanError({ ...plan, audio: null });
}

/**
 * The inputs for ffmpeg: one with everything, or video and audio separately. A single source may
 * also deliver the two separately.
 * @throws DomainError, the abort's reason
 */
async function openInputs(
  { signal }: StreamJob,
  { plan, session, tools }: StreamToMake,
): Promise<readonly OpenInput[]> {
  const { tracks, clip } = plan.expected;
  const span = clip && { startSeconds: clip.readFromSeconds, endSeconds: clip.endSeconds };
  try {
    const inputs = await Promise.all(
      plan.inputs.map(async (source, index) => {
        const track = tracks[index] ?? 'all';
        const found = await session.add(source, track, span);
        const chosen = track === 'all' ? found : [withTrack(found, track)];
        return clip === null
          ? chosen
          : Promise.all(
              chosen.map((input) => inputWithSeek(input, { plan, clip, track, session, tools, signal })),
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
const probeTimeoutMs = 15_000;

interface SeekContext {
  readonly plan: Plan;
  readonly clip: Clip;
  readonly track: 'all' | 'video' | 'audio';
  readonly session: RelaySession;
  readonly tools: MediaTools;
  readonly signal: AbortSignal;
}

/** Adds to a file what ffmpeg needs to seek to a clip. */
async function inputWithSeek(input: RelayInput, context: SeekContext): Promise<OpenInput> {
  if (input.isJoined) return input;
  const { plan, clip, track, session, tools, signal } = context;
  const { environment, parse } = session;
  try {
    const found = await probe(tools, input.url, { signal, parse, maxMs: probeTimeoutMs, environment });
    assertIsInside(clip, found);
    const type = track === 'audio' ? 'audio' : 'video';
    // Second 0 is the first video frame, even for a clip of the audio alone.
    const first = streamOf(found.streams, 'video') ?? streamOf(found.streams, 'audio');
    const delaySeconds = first?.delaySeconds ?? 0;
    const isSought = clip.readFromSeconds > 0 && seekable[type].test(found.formatName);
    return {
      ...input,
      offsetSeconds: delaySeconds > maxDelaySeconds ? 0 : -delaySeconds,
      prerollSeconds: isSought ? (type === 'audio' ? audioPrerollSeconds : 0) : null,
      lacksAudio: isOutside(streamOf(found.streams, 'audio', plan.audio?.track), clip),
    };
  } catch (error) {
    signal.throwIfAborted();
    // ffmpeg either reads the file anyway or reports a better error.
    if (error instanceof ProbeError) return { ...input, offsetSeconds: 0 };
    throw error;
  }
}

/** Of other formats, the plan knows the length already, or ffprobe only estimates it. */
const statesItsEnd = /^(?:ogg|flac|wav|aiff|mpegts)\b/u;

/** The page may state more than its media have. @throws InvalidRequestError */
function assertIsInside({ startSeconds }: Clip, { formatName, durationSeconds }: Probe): void {
  if (!statesItsEnd.test(formatName) || durationSeconds === null) return;
  if (startSeconds >= durationSeconds) throw startsBehind(durationSeconds);
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

function withTrack(inputs: readonly RelayInput[], track: 'video' | 'audio'): RelayInput {
  const input = inputs.find(({ carries }) => carries === 'all' || carries === track);
  if (input === undefined) throw new Error(`a plan has an input with ${track}`);
  return input;
}

/** The relay retries a silent source several times. After more timeouts than that, ffmpeg itself is considered stuck. */
const maxIdleTimeouts = 6;

/**
 * Yields ffmpeg's output, processed for the client. Holds back headers until there is media.
 *
 * @throws the abort's reason, including when ffmpeg or upstream sends nothing for too long.
 */
async function* readMedia(
  child: ChildGroup,
  run: OutputRun,
  job: StreamJob,
  session: RelaySession,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  const output = new OutputReader(child.stdout);
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
    `The site's media server sent nothing for ${(upstreamIdleTimeoutMs * maxIdleTimeouts) / 1000} s.`,
  );
}
