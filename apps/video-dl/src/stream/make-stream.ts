import { DomainError } from '@media-services/http-common';
import type { ChildGroup } from '@media-services/processes';
import { InputFactsReader } from '../ffmpeg/input-facts.js';
import { startMediaProcess } from '../ffmpeg/process.js';
import type { MediaTools } from '../ffmpeg/tools.js';
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
}

/** What is copied begins with media that only an edit list hides; encoded anew, it begins where it should. */
export class HiddenStart extends Error {
  override readonly name = 'HiddenStart';
  readonly plan: Plan;

  constructor(plan: Plan) {
    super('the media begin with what only an edit list hides');
    this.plan = plan;
  }
}

/**
 * Makes a stream and hands it to the client: no header before the first media byte, no end before
 * the whole is verified. Everything it starts has ended when it returns.
 *
 * @throws DomainError what failed, or the abort's reason. If headers have been sent by then, the connection must be reset.
 * @throws HiddenStart before any header, with the plan that the stream has to be made by
 */
export async function makeStream(job: StreamJob, stream: StreamToMake): Promise<void> {
  const { plan, output, session, tools } = stream;
  const endFirstByte = job.context.timings.start('firstByte');
  const facts = new InputFactsReader();
  const inputs = await openInputs(job, stream);
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
  // Segments are read once, and original audio is never encoded.
  if (plan.target === 'original' || inputs.some(({ isJoined }) => isJoined)) return;
  const { video, audio } = plan;
  const hidesVideo = video?.action === 'copy' && run.hiddenSeconds('video') > maxHiddenVideoSeconds;
  const hidesAudio = audio?.action === 'copy' && run.hiddenSeconds('audio') > maxHiddenAudioSeconds;
  if (!hidesVideo && !hidesAudio) return;
  throw new HiddenStart({
    ...plan,
    video: hidesVideo ? { ...video, action: 'transcode' } : video,
    audio: hidesAudio ? { ...audio, action: 'transcode' } : audio,
    estimatedBytes: hidesVideo ? null : plan.estimatedBytes,
  });
}

/**
 * What ffmpeg reads: one input with everything, or two, the video and the audio. A source may
 * itself bring the two separately.
 * @throws DomainError, the abort's reason
 */
async function openInputs(
  { signal }: StreamJob,
  { plan, session }: StreamToMake,
): Promise<readonly RelayInput[]> {
  try {
    const inputs = await Promise.all(
      plan.inputs.map(async (source, index) => {
        const track = plan.expected.tracks[index] ?? 'all';
        const found = await session.add(source, track);
        return track === 'all' ? found : [withTrack(found, track)];
      }),
    );
    return inputs.flat();
  } catch (error) {
    signal.throwIfAborted();
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
