import type { Writable } from 'node:stream';
import type { Cover } from '../formats/cover.js';
import { OggPages } from '../formats/ogg/pages.js';
import { codecFamily } from '../formats/codecs.js';
import { copiedAudioArguments, coverMetadata } from '../ffmpeg/arguments.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Plan } from '../plan/plan.js';
import type { SentTrack } from './expectation.js';
import { Mp4Run } from './mp4-output.js';
import type { OutputRun, StreamOutput } from './output.js';
import { formats, type StreamFormat } from './response.js';

/** The source's audio without re-encoding, in a fragmented M4A or in Ogg. */
export function copiedAudioOutput(
  plan: Plan,
  tools: MediaTools,
  { container, cover }: { container: 'm4a' | 'ogg'; cover: Promise<Cover | null> },
): StreamOutput {
  const sendCover = async (target: Writable) => void target.end(coverMetadata(await cover));
  return {
    format: copiedAudioFormat(plan) ?? formats[container],
    file: null,
    extraInputs: container === 'ogg' ? [{ url: 'pipe:', feed: sendCover }] : [],
    headerBytes: async () => {
      const { length = 0 } = (await cover)?.bytes ?? {};
      // Comments in Ogg are text, so the cover is in Base64.
      return container === 'ogg' ? Math.ceil(length / 3) * 4 : length;
    },
    ffmpegArguments([input, coverInput], planned) {
      const { audio } = planned;
      if (input === undefined || audio === null) throw new Error('a plan for audio has an input with audio');
      const track = { ...audio, codec: codecFamily(audio.codec) };
      return copiedAudioArguments(input, track, container, planned, tools, coverInput);
    },
    begin: async (expected) =>
      container === 'm4a'
        ? new Mp4Run(() => expected.seconds, { cover: await cover, chapters: plan.chapters })
        : new OggRun(),
  };
}

/** The format of a plan for original audio; undefined if its audio can't be copied. */
export function copiedAudioFormat({ container, audio }: Plan): StreamFormat | undefined {
  if (container === null || container === 'mp4') return undefined;
  return container === 'ogg' && audio?.codec === 'opus' ? formats.opus : formats[container];
}

class OggRun implements OutputRun {
  readonly #pages = new OggPages();

  get hasMedia(): boolean {
    return this.#pages.audioSeconds > 0;
  }

  get isWhole(): boolean {
    return this.#pages.isComplete;
  }

  get tracks(): readonly SentTrack[] {
    return [{ type: 'audio', endSeconds: this.#pages.audioSeconds }];
  }

  push(chunk: Buffer): readonly Buffer[] {
    this.#pages.push(chunk);
    return [chunk];
  }
}
