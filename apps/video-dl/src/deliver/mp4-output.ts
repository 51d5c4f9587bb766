import { FragmentedMp4 } from '../formats/mp4/fragmented-mp4.js';
import { mp4Arguments } from '../ffmpeg/arguments.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Plan } from '../plan/plan.js';
import type { RelayInput } from '../relay/session.js';
import type { Expectation, SentTrack } from './expectation.js';
import type { OutputRun, StreamOutput } from './output.js';
import { formats } from './response.js';

/** ffmpeg needs a few frames to learn the parameters of a track. */
const analysisMarginBytes = 4 * 1024 ** 2;
const analysisMarginSeconds = 5;

/** A fragmented MP4 with its duration in the header. */
export class Mp4Output implements StreamOutput {
  readonly format = formats.mp4;
  readonly file = null;
  readonly #plan: Plan;
  readonly #tools: MediaTools;

  constructor(plan: Plan, tools: MediaTools) {
    this.#plan = plan;
    this.#tools = tools;
  }

  ffmpegArguments(inputs: readonly RelayInput[], plan: Plan): string[] {
    const { title, uploader: artist, webpageUrl: comment } = plan;
    const { video, audio, audioStart, expected } = plan;
    const tracks = { video, audio, clip: expected.clip };
    const analysis = audioStart && {
      bytes: audioStart.at + analysisMarginBytes,
      seconds: audioStart.seconds + analysisMarginSeconds,
    };
    return mp4Arguments(
      inputs.map((input) => ({ ...input, analysis: analysis ?? input.analysis })),
      tracks,
      { title, artist, comment },
      this.#tools,
    );
  }

  begin(expected: Expectation): Promise<OutputRun> {
    return Promise.resolve(new Mp4Run(expected, { chapters: this.#plan.chapters, texts: this.#plan.texts }));
  }
}

/** A fragmented MP4, possibly with audio only. */
export class Mp4Run implements OutputRun {
  readonly #mp4: FragmentedMp4;

  constructor(expected: Expectation, added: ConstructorParameters<typeof FragmentedMp4>[1]) {
    this.#mp4 = new FragmentedMp4(() => expected.seconds, added);
  }

  get hasMedia(): boolean {
    return this.#mp4.hasMedia;
  }

  get isWhole(): boolean {
    return this.#mp4.isComplete;
  }

  get tracks(): readonly SentTrack[] {
    return this.#mp4.progress.map((track) => ({ ...track, type: typeOf(track.handler) }));
  }

  startSeconds(type: SentTrack['type']): number {
    return this.#mp4.progress.find(({ handler }) => typeOf(handler) === type)?.startSeconds ?? 0;
  }

  push(chunk: Buffer): readonly Buffer[] {
    return this.#mp4.push(chunk);
  }
}

function typeOf(handler: string): SentTrack['type'] {
  return handler === 'vide' ? 'video' : 'audio';
}
