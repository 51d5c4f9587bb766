import { setImmediate } from 'node:timers/promises';
import { childBoxes, isDamage } from '../formats/mp4/box.js';
import { FragmentClock } from '../formats/mp4/fragment-clock.js';
import { readMovieHeader } from '../formats/mp4/movie-header.js';
import { FragmentRewriter } from '../formats/mp4/remux/fragment-rewriter.js';
import type { Layout } from '../formats/mp4/remux/layout.js';
import { UnexpectedMediaError } from '../look/learnt.js';
import type { Plan } from '../plan/plan.js';
import { failureOf, type Upstream } from '../upstream/upstream.js';
import type { StreamJob } from './job.js';
import { partsBetween, rangesOfSources } from './layout-parts.js';
import type { Selection } from './ranges.js';
import type { RemuxedFile } from './remuxed-file.js';
import { streamHeaders } from './response.js';
import { SourceReader } from './source-reader.js';

interface RemuxedToSend {
  readonly plan: Plan;
  readonly file: RemuxedFile;
  readonly upstream: Upstream;
  readonly selection: Selection;
  readonly status: 200 | 206;
}

/**
 * Sends a remuxed file or a part of it: its header, then parts of the site's files. Sends nothing
 * before each file has delivered a byte and doesn't end the response before the last byte.
 *
 * @throws DomainError or the abort's reason. If headers have been sent by then, the connection must be reset.
 */
export async function remux(
  job: StreamJob,
  { plan, file, upstream, selection, status }: RemuxedToSend,
): Promise<void> {
  const endFirstByte = job.context.timings.start('firstByte');
  const { layout } = file;
  const end = selection.kind === 'part' ? selection.end + 1 : file.totalBytes;
  const window = new Window(job, selection.kind === 'part' ? selection.start : 0, end);
  const readers = file.sources.map((source) => new SourceReader(source));
  const tracks = fragmentTracks(layout);
  try {
    const ranges = rangesOfSources(layout, window.start, end);
    await Promise.all(
      [...ranges].map(async ([source, parts]) => readers[source]?.open(parts, job, upstream)),
    );
    job.signal.throwIfAborted();
    endFirstByte();
    job.begin(
      status,
      streamHeaders(plan, { format: file.format, file, selection, saveAs: job.request.saveAs }),
    );
    const { buffer, byteOffset, length } = layout.header;
    await window.send(0, Buffer.from(buffer, byteOffset, length));
    let receivedBytes = 0;
    using rate = job.watchSource(() => ({ bytes: receivedBytes, mediaSeconds: 0 }));
    for (const part of partsBetween(layout, window.start, end)) {
      // Parts of a few bytes are all there at once.
      if (part.number % partsAtOnce === 0) await setImmediate();
      const rewriter = tracks?.rewriters[part.source];
      rewriter?.begin(part);
      let position = part.position;
      for (let done = 0; done < part.bytes;) {
        const reading = readers[part.source]?.read(part.offset + done, part.bytes - done);
        const bytes = await rate.during(reading ?? Promise.reject(new Error('a part has a source')));
        done += bytes.length;
        receivedBytes += bytes.length;
        for (const output of rewriter?.push(bytes) ?? [bytes]) {
          await window.send(position, output);
          position += output.length;
        }
      }
      if (part.isWhole) rewriter?.end();
    }
    if (selection.kind !== 'part') tracks?.assertComplete();
    await window.end();
    await job.end();
  } catch (error) {
    job.signal.throwIfAborted();
    throw isDamage(error) ? wrongIndex("its fragments don't match it", error) : failureOf(error);
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
}

const partsAtOnce = 256;
/** Smaller parts are written together. */
const minWriteBytes = 32 * 1024;

/**
 * The bytes of the output that the client requested. Holds back the last ones, because a client
 * takes a response as complete once it has as many bytes as stated.
 */
class Window {
  readonly start: number;
  readonly #job: StreamJob;
  readonly #end: number;
  #bytes = 0;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(job: StreamJob, start: number, end: number) {
    this.#job = job;
    this.start = start;
    this.#end = end;
  }

  /** @param position of the bytes in the output */
  async send(position: number, bytes: Buffer): Promise<void> {
    const wanted = bytes.subarray(Math.max(0, this.start - position), Math.max(0, this.#end - position));
    if (wanted.length === 0) return;
    this.#bytes += wanted.length;
    if (this.#heldBytes >= minWriteBytes) await this.#flush();
    this.#held.push(wanted);
    this.#heldBytes += wanted.length;
  }

  /** Sends the last bytes. Call once everything has been verified. */
  async end(): Promise<void> {
    if (this.#bytes !== this.#end - this.start) throw new Error('a layout states the size of its parts');
    if (this.#heldBytes > 0) await this.#flush();
  }

  async #flush(): Promise<void> {
    const [first] = this.#held;
    const bytes = first === undefined || this.#held.length > 1 ? Buffer.concat(this.#held) : first;
    this.#held = [];
    this.#heldBytes = 0;
    await this.#job.send(bytes);
  }
}

interface FragmentTracks {
  readonly rewriters: readonly FragmentRewriter[];
  /** @throws UnexpectedMediaError if the fragments are shorter than their index says */
  assertComplete(): void;
}

function fragmentTracks({ header, fragmentTracks: ids, tracks }: Layout): FragmentTracks | null {
  if (ids === null) return null;
  const bytes = Buffer.from(header);
  const moov = childBoxes(bytes, 0).find(({ type }) => type === 'moov');
  const clock = new FragmentClock(moov === undefined ? [] : readMovieHeader(moov.bytes).tracks);
  return {
    rewriters: ids.map((id) => new FragmentRewriter(id, (moof) => clock.add(moof))),
    assertComplete: () => {
      for (const [index, { type, seconds }] of tracks.entries()) {
        const endSeconds = clock.progress[index]?.endSeconds ?? 0;
        if (endSeconds < seconds - maxMissingSeconds)
          throw wrongIndex(`its ${type} ends at ${endSeconds.toFixed(1)} s of ${seconds.toFixed(1)} s`);
      }
    },
  };
}

const maxMissingSeconds = 0.5;

/** ffmpeg, which ignores the index, may still read the fragments. */
function wrongIndex(what: string, cause?: unknown): UnexpectedMediaError {
  return new UnexpectedMediaError(
    { kind: 'wrong_index' },
    `The index of the site's file is wrong: ${what}.`,
    {
      cause,
    },
  );
}
