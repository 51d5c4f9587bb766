import type { Clip } from '../plan/clip.js';
import type { RelaySession } from '../relay/session.js';
import { failureOf, type Upstream } from '../upstream/upstream.js';
import type { StreamJob } from './job.js';
import { partsBetween, rangesOfSources } from './layout-parts.js';
import type { OpenInput } from './open-inputs.js';
import type { RemuxedFile } from './remuxed-file.js';
import { SourceReader } from './source-reader.js';

/** A file of what a clip needs. */
export interface WindowFile {
  readonly file: RemuxedFile;
  /** Where it begins in the video. */
  readonly startSeconds: number;
}

/** Less than a frame. */
const maxLeadSeconds = 0.01;

/** A file of only what a clip needs, which ffmpeg reads without seeking. */
export class WindowInput implements AsyncDisposable {
  readonly #window: WindowFile;
  readonly #readers: readonly SourceReader[];

  private constructor(window: WindowFile, readers: readonly SourceReader[]) {
    this.#window = window;
    this.#readers = readers;
  }

  /** Resolves when the site's files have sent their first bytes. @throws DomainError, the job's abort reason */
  static async open(job: StreamJob, window: WindowFile, upstream: Upstream): Promise<WindowInput> {
    const { layout, sources, totalBytes } = window.file;
    const input = new WindowInput(
      window,
      sources.map((source) => new SourceReader(source)),
    );
    try {
      const ranges = [...rangesOfSources(layout, 0, totalBytes)];
      await Promise.all(
        ranges.map(async ([source, parts]) => input.#readers[source]?.open(parts, job, upstream)),
      );
      return input;
    } catch (error) {
      await input[Symbol.asyncDispose]();
      throw failureOf(error);
    }
  }

  addTo(session: RelaySession, clip: Clip | null): OpenInput {
    const { file, startSeconds } = this.#window;
    const lengthOf = (type: 'video' | 'audio') =>
      file.layout.tracks.find((track) => track.type === type)?.seconds ?? null;
    return {
      ...session.addOpened({ total: file.totalBytes, chunks: () => this.#chunks() }),
      // Like joined segments, it is a part of the source.
      isJoined: true,
      offsetSeconds: startSeconds,
      lengths: { video: lengthOf('video'), audio: lengthOf('audio'), audioGaps: Infinity },
      startsWithKeyFrame: clip !== null && Math.abs(clip.startSeconds - startSeconds) <= maxLeadSeconds,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#readers.map(async (reader) => reader.close()));
  }

  async *#chunks(): AsyncGenerator<Buffer, void, void> {
    const { layout, totalBytes } = this.#window.file;
    yield Buffer.from(layout.header);
    for (const { source, offset, bytes } of partsBetween(layout, 0, totalBytes))
      for (let done = 0; done < bytes;) {
        const next = await this.#readers[source]?.read(offset + done, bytes - done);
        if (next === undefined) throw new Error('a part has a source');
        done += next.length;
        yield next;
      }
  }
}
