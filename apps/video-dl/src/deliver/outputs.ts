import type { Cover } from '../formats/cover.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { HeadOptions, SourceHeads } from '../look/source-heads.js';
import type { Plan } from '../plan/plan.js';
import { notCopyable } from '../plan/rejections.js';
import { CopiedAudioOutput } from './audio-output.js';
import { ExactMp3Output, Mp3Output, statedAudio } from './mp3-output.js';
import { Mp4Output } from './mp4-output.js';
import type { StreamOutput } from './output.js';

interface OutputOptions extends HeadOptions {
  readonly heads: SourceHeads;
  readonly tools: MediaTools;
  readonly cover: Promise<Cover | null>;
}

/** What ffmpeg makes for a plan. @throws DomainError if no container takes the audio; the signal's reason */
export async function outputFor(plan: Plan, options: OutputOptions): Promise<StreamOutput> {
  const { heads, tools, cover } = options;
  switch (plan.container) {
    case 'mp4':
      return new Mp4Output(plan, tools);
    case 'm4a':
    case 'ogg':
      return new CopiedAudioOutput(plan, tools, { container: plan.container, cover });
    case 'mp3': {
      const stated = plan.statesWrongAudioLength ? null : await statedAudio(heads, plan, options);
      return stated === null
        ? new Mp3Output(plan, tools, cover)
        : new ExactMp3Output(plan, tools, stated, await cover);
    }
    case null:
      throw notCopyable(plan.audio?.codec ?? 'unknown');
  }
}
