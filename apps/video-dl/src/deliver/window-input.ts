import type { Clip } from '../plan/clip.js';
import type { RelaySession } from '../relay/session.js';
import { failureOf, type Upstream } from '../upstream/upstream.js';
import type { StreamJob } from './job.js';
import type { OpenInput } from './open-inputs.js';
import { readRemuxed, type RemuxedFile } from './remuxed-file.js';

/** A file of what a clip needs. */
export interface WindowFile {
  readonly file: RemuxedFile;
  /** Where it begins in the video. */
  readonly startSeconds: number;
}

/** Less than a frame. */
const maxLeadSeconds = 0.01;

/**
 * Opens a file of only what a clip needs, which ffmpeg reads without seeking. Resolves when the site's files have
 * sent their first bytes.
 * @throws DomainError, the job's abort reason
 */
export async function openWindow(
  job: StreamJob,
  { file, startSeconds }: WindowFile,
  { session, upstream, clip }: { session: RelaySession; upstream: Upstream; clip: Clip | null },
): Promise<AsyncDisposable & { readonly input: OpenInput }> {
  const ended = new AbortController();
  const signal = AbortSignal.any([job.signal, ended.signal]);
  const pieces = readRemuxed(file, null, { upstream, signal, renew: job.renew, client: job.request.client });
  const header = await pieces.next().catch((error: unknown) => {
    throw failureOf(error);
  });
  async function* chunks(): AsyncGenerator<Buffer, void, void> {
    if (header.done !== true) yield header.value.bytes;
    for await (const { bytes } of pieces) yield bytes;
  }
  const lengthOf = (type: 'video' | 'audio') =>
    file.layout.tracks.find((track) => track.type === type)?.seconds ?? null;
  return {
    input: {
      ...session.addOpened({ total: file.totalBytes, chunks }),
      // Like joined segments, it is a part of the source.
      isJoined: true,
      offsetSeconds: startSeconds,
      lengths: { video: lengthOf('video'), audio: lengthOf('audio') },
      startsWithKeyFrame: clip !== null && Math.abs(clip.startSeconds - startSeconds) <= maxLeadSeconds,
    },
    async [Symbol.asyncDispose]() {
      // Its input must not fail for this.
      session.close();
      ended.abort(new Error('the conversion has ended'));
      await pieces.return();
    },
  };
}
