import { DomainError } from '@media-services/http-common';
import type { ChildGroup } from '@media-services/processes';
import { InputFactsReader } from '../ffmpeg/input-facts.js';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import { startMediaProcess } from '../ffmpeg/process.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Clip } from '../plan/clip.js';
import { tooLarge, type Plan } from '../plan/plan.js';
import type { MediaRelay, RelayInput, RelaySession } from '../relay/index.js';
import { Expectation, type ExpectedInput } from './expectation.js';
import type { StreamJob } from './job.js';
import type { StreamLimits } from './limits.js';
import type { OutputRun, StreamOutput } from './output.js';
import type { Selection } from './ranges.js';
import { streamHeaders } from './response.js';
import { assertComplete } from './verification.js';

export interface StreamToMake {
  readonly plan: Plan;
  readonly output: StreamOutput;
  /** The part that the client wants; a part always goes up to the end. */
  readonly selection: Selection;
  readonly session: RelaySession;
  /** For a second look at a source. */
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
  /** Opened already, and not read. */
  readonly inputs?: readonly OpenInput[] | undefined;
}

interface OpenInput extends RelayInput {
  /** For a file that can be sought: so long before a clip reading begins. */
  readonly prerollSeconds?: number | null;
}

/** The output begins too early, with media that only an edit list hides, or too late. By the other plan it won't. */
export class WrongStart extends Error {
  override readonly name = 'WrongStart';
  readonly plan: Plan;
  /** Those that were not read. */
  readonly inputs: readonly OpenInput[] | undefined;

  constructor(plan: Plan, inputs?: readonly OpenInput[]) {
    super('the media do not begin where they should');
    this.plan = plan;
    this.inputs = inputs;
  }
}

/**
 * Makes a stream and hands it to the client: no header before the first media byte, no end before
 * the whole is verified. Everything it starts has ended when it returns.
 *
 * @throws DomainError what failed, or the abort's reason. If headers have been sent by then, the connection must be reset.
 * @throws WrongStart before any header, with the plan that the stream has to be made by
 */
export async function makeStream(job: StreamJob, stream: StreamToMake): Promise<void> {
  const { plan, output, session, tools } = stream;
  const endFirstByte = job.context.timings.start('firstByte');
  const facts = new InputFactsReader();
  const inputs = stream.inputs ?? (await openInputs(job, stream));
  assertMayBeCopied(plan, inputs);
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
  const run = output.begin(expected);
  const client = new PartialWriter(job, plan);
  let hasBegun = false;
  for await (const parts of readMedia(child, run, job, session)) {
    if (!hasBegun) {
      hasBegun = true;
      assertShowsItsStart(plan, run, inputs);
      assertIsNotLate(plan, run);
      const header = await run.header();
      const headerBytes = await output.headerBytes();
      endFirstByte();
      const selection = run.file === null ? ({ kind: 'whole' } as const) : stream.selection;
      if (selection.kind === 'part') client.bytesToSkip = selection.start;
      const described = { format: output.format, file: run.file, selection, headerBytes };
      job.begin(selection.kind === 'part' ? 206 : 200, streamHeaders(plan, described));
      await client.send(header);
    }
    for (const part of parts) await client.send(part);
  }
  const { signal, renew, request } = job;
  const finished = { ...stream, signal, renew, client: request.client, child, output: run, facts, expected };
  await assertComplete(finished);
  await client.send(run.trailer());
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

/** Sends a stream that is made from its beginning, without what the client has already. */
class PartialWriter {
  bytesToSkip = 0;
  #madeBytes = 0;
  readonly #job: StreamJob;
  readonly #plan: Plan;

  constructor(job: StreamJob, plan: Plan) {
    this.#job = job;
    this.#plan = plan;
  }

  async send(part: Buffer): Promise<void> {
    this.#madeBytes += part.length;
    const { limits } = this.#job;
    if (this.#madeBytes > limits.maxOutputBytes) throw tooLarge(this.#plan.target, 'has more bytes', limits);
    const rest = part.subarray(Math.min(this.bytesToSkip, part.length));
    this.bytesToSkip -= part.length - rest.length;
    if (rest.length > 0) await this.#job.send(rest);
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
function assertShowsItsStart(plan: Plan, run: OutputRun, inputs: readonly RelayInput[]): void {
  // Original audio is never encoded, and segments are read once, except for a clip.
  if (plan.target === 'original') return;
  if (plan.expected.clip === null && inputs.some(({ isJoined }) => isJoined)) return;
  const { video, audio } = plan;
  const hidesVideo = video?.action === 'copy' && run.startSeconds('video') < -maxHiddenVideoSeconds;
  const hidesAudio = audio?.action === 'copy' && run.startSeconds('audio') < -maxHiddenAudioSeconds;
  if (!hidesVideo && !hidesAudio) return;
  const encoded = hidesVideo ? withEncodedVideo(plan) : plan;
  throw new WrongStart({ ...encoded, audio: hidesAudio ? { ...audio, action: 'transcode' } : audio });
}

/** Its size is known only to the encoder. */
function withEncodedVideo(plan: Plan): Plan {
  return { ...plan, video: plan.video && { ...plan.video, action: 'transcode' }, estimatedBytes: null };
}

/** What begins so long before a clip begins with other frames. */
const maxCopiedLeadSeconds = 0.25;

/** @throws WrongStart for a clip that has to be encoded, before anything of it is read */
function assertMayBeCopied(plan: Plan, inputs: readonly OpenInput[]): void {
  const { clip } = plan.expected;
  const [input] = inputs;
  if (clip === null || plan.video?.action !== 'copy' || input === undefined) return;
  const isSought = input.prerollSeconds != null;
  if (!isSought && clip.startSeconds - (input.offsetSeconds ?? 0) > maxCopiedLeadSeconds)
    throw new WrongStart(withEncodedVideo(plan), inputs);
}

/**
 * The frame that is shown when a clip begins may be missing: its beginning is not sought without the
 * frame rate, and what was sought may have no key frame before the clip. Read from its beginning, it has.
 */
function assertIsNotLate(plan: Plan, run: OutputRun): void {
  const { clip } = plan.expected;
  if (clip === null || plan.video === null || run.startSeconds('video') <= maxHiddenVideoSeconds) return;
  const encoded = withEncodedVideo(plan);
  const { video, expected } = encoded;
  const frameSeconds = run.tracks.find(({ type }) => type === 'video')?.longestSeconds ?? 0;
  if (video !== null && video.fps === null && frameSeconds > 0)
    throw new WrongStart({ ...encoded, video: { ...video, fps: 1 / frameSeconds } });
  if (clip.readFromSeconds > 0)
    throw new WrongStart({ ...encoded, expected: { ...expected, clip: { ...clip, readFromSeconds: 0 } } });
}

/**
 * What ffmpeg reads: one input with everything, or two, the video and the audio. A source may
 * itself bring the two separately.
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
          : Promise.all(chosen.map((input) => placedInput(input, { clip, track, session, tools, signal })));
      }),
    );
    return inputs.flat();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** Containers that name their key frames, or in which every packet of audio can be found by its time. */
const seekable = {
  video: /^(?:mov|matroska)\b/u,
  audio: /^(?:mov|matroska|mp3|ogg|flac|wav|w64|aiff|caf)\b/u,
};
/** Decoders of audio need a few packets to be right. */
const audioPrerollSeconds = 0.5;
/** A track that begins so little after the other begins with it: the audio of many files has an encoder's delay. */
const maxDelaySeconds = 0.25;
const lookMs = 15_000;

interface PlacingContext {
  readonly clip: Clip;
  readonly track: 'all' | 'video' | 'audio';
  readonly session: RelaySession;
  readonly tools: MediaTools;
  readonly signal: AbortSignal;
}

/** A file with what ffmpeg needs to find a clip in it. */
async function placedInput(input: RelayInput, context: PlacingContext): Promise<OpenInput> {
  if (input.isJoined) return input;
  const { clip, track, session, tools, signal } = context;
  const { environment, parse } = session;
  try {
    const found = await probe(tools, input.url, { signal, parse, maxMs: lookMs, environment });
    const type = track === 'audio' ? 'audio' : 'video';
    // Second 0 is the first frame, also for a clip of the audio alone.
    const streamOf = (wanted: 'video' | 'audio') =>
      found.streams.find((stream) => stream.type === wanted && !stream.isCover);
    const delaySeconds = (streamOf('video') ?? streamOf('audio'))?.delaySeconds ?? 0;
    const isSought = clip.readFromSeconds > 0 && seekable[type].test(found.formatName);
    return {
      ...input,
      offsetSeconds: delaySeconds > maxDelaySeconds ? 0 : -delaySeconds,
      prerollSeconds: isSought ? (type === 'audio' ? audioPrerollSeconds : 0) : null,
    };
  } catch (error) {
    signal.throwIfAborted();
    // ffmpeg reports what can't be read, or reads it all the same.
    if (error instanceof ProbeError) return { ...input, offsetSeconds: 0 };
    throw error;
  }
}

function withTrack(inputs: readonly RelayInput[], track: 'video' | 'audio'): RelayInput {
  const input = inputs.find(({ carries }) => carries === 'all' || carries === track);
  if (input === undefined) throw new Error(`a plan has an input with ${track}`);
  return input;
}

/** The relay retries a silent source several times; only after more timeouts than that is ffmpeg itself taken for stuck. */
const idleTimeoutsOfSilence = 6;

/**
 * What ffmpeg makes, finished for the client. Nothing comes before there is real media; headers
 * alone are held back until then.
 *
 * @throws the abort's reason, also when ffmpeg or upstream sends nothing for too long.
 */
async function* readMedia(
  child: ChildGroup,
  run: OutputRun,
  job: StreamJob,
  session: RelaySession,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  const stdout: AsyncIterable<Buffer, undefined> = child.stdout;
  const chunks = stdout[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  try {
    while (!run.hasMedia) {
      const { done, value } = await chunks.next();
      if (done === true) break;
      held.push(...run.push(value));
    }
    job.signal.throwIfAborted();
    if (!run.hasMedia) return;
    yield held.splice(0);
    // ffmpeg's silence is no failure while its source sends bytes: a fragment may take longer than the timeout to fill.
    const progress = () => ({
      bytes: session.bytesReceived,
      mediaSeconds: Math.max(0, ...run.tracks.map(({ endSeconds }) => endSeconds)),
    });
    const maxMs = job.limits.upstreamIdleTimeoutMs * idleTimeoutsOfSilence;
    using rate = job.watchSource(progress, { maxMs, reason: () => idleTimeout(job.limits) });
    for (;;) {
      const { done, value } = await rate.during(chunks.next());
      job.signal.throwIfAborted();
      if (done === true) return;
      yield run.push(value);
    }
  } catch (error) {
    // An aborted child's stdout breaks off; the reason says more than that does.
    job.signal.throwIfAborted();
    throw error;
  }
}

function idleTimeout({ upstreamIdleTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `The site's media server sent nothing for ${(upstreamIdleTimeoutMs * idleTimeoutsOfSilence) / 1000} s.`,
  );
}
