import { FragmentedMp4 } from '../formats/mp4/fragmented-mp4.js';
import { mp4Arguments } from '../ffmpeg/arguments.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Plan } from '../plan/plan.js';
import type { SentTrack } from './expectation.js';
import type { OutputRun, StreamOutput } from './output.js';
import { formats } from './response.js';

/** ffmpeg needs a few frames to learn the parameters of a track. */
const analysisMarginBytes = 4 * 1024 ** 2;
const analysisMarginSeconds = 5;

/** A fragmented MP4 with its duration in the header. */
export function mp4Output({ chapters, texts }: Plan, tools: MediaTools): StreamOutput {
  return {
    format: formats.mp4,
    file: null,
    ffmpegArguments(inputs, plan) {
      const { video, audio, audioStart, expected } = plan;
      const analysis = audioStart && {
        bytes: audioStart.at + analysisMarginBytes,
        seconds: audioStart.seconds + analysisMarginSeconds,
      };
      return mp4Arguments(
        inputs.map((input) => ({ ...input, analysis: analysis ?? input.analysis })),
        { video, audio, clip: expected.clip },
        plan,
        tools,
      );
    },
    begin: (expected) => new Mp4Run(() => expected.seconds, { chapters, texts }),
  };
}

/** A fragmented MP4, possibly with audio only. */
export class Mp4Run extends FragmentedMp4 implements OutputRun {
  get isWhole(): boolean {
    return this.isComplete;
  }

  get tracks(): readonly SentTrack[] {
    return this.progress.map((track) => ({ ...track, type: track.handler === 'vide' ? 'video' : 'audio' }));
  }
}
