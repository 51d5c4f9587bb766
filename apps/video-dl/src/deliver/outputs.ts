import type { MediaTools } from '../ffmpeg/tools.js';
import type { SourceHeads } from '../look/source-heads.js';
import type { Plan } from '../plan/plan.js';
import { notCopyable } from '../plan/rejections.js';
import type { ReaderOptions } from '../upstream/upstream.js';
import { copiedAudioOutput } from './audio-output.js';
import { fetchCover, type FetchCoverOptions } from './fetch-cover.js';
import { exactMp3Output, mp3Output, statedAudio } from './mp3-output.js';
import { mp4Output } from './mp4-output.js';
import type { StreamOutput } from './output.js';

interface OutputOptions extends ReaderOptions, FetchCoverOptions {
  readonly heads: SourceHeads;
  readonly tools: MediaTools;
}

/** What ffmpeg makes for a plan. @throws DomainError if no container takes the audio; the signal's reason */
export async function outputFor(plan: Plan, options: OutputOptions): Promise<StreamOutput> {
  const { heads, tools } = options;
  const cover = fetchCover(plan, options);
  switch (plan.container) {
    case 'mp4':
      return mp4Output(plan, tools);
    case 'm4a':
    case 'ogg':
      return copiedAudioOutput(plan, tools, { container: plan.container, cover });
    case 'mp3': {
      const stated = await statedAudio(heads, plan, options);
      return stated === null
        ? mp3Output(plan, tools, cover)
        : exactMp3Output(plan, tools, stated, await cover);
    }
    case null:
      throw notCopyable(plan.audio?.codec ?? 'unknown');
  }
}
