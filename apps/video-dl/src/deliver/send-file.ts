import { DomainError } from '@media-services/http-common';
import type { Plan } from '../plan/plan.js';
import { failureOf, type ReaderOptions, type Upstream } from '../upstream/upstream.js';
import type { StreamJob } from './job.js';
import type { Part } from './ranges.js';
import { streamHeaders, type KnownFile, type StreamFormat } from './response.js';

/** Bytes of a file, and where they begin in it. */
export interface Piece {
  readonly at: number;
  readonly bytes: Buffer;
}

/** What reads the pieces of a file. */
export interface ReadOptions extends ReaderOptions {
  readonly upstream: Upstream;
}

interface FileToSend {
  readonly plan: Plan;
  readonly file: KnownFile & { readonly format: StreamFormat };
  /** The part that the client wants; null for all. */
  readonly range: Part | null;
}

/** Smaller parts are written together. */
const minWriteBytes = 32 * 1024;

/**
 * Sends a file whose every byte is known, or a part of it. Sends no header before the first piece. Holds back the
 * last bytes until all pieces have been verified, because a client takes a response as complete once it has as many
 * bytes as stated.
 *
 * @param pieces contain the part that the client wants, in order. They fail if they are incomplete or damaged.
 * @throws DomainError or the abort's reason. If headers have been sent by then, the connection must be reset.
 */
export async function sendFile(
  job: StreamJob,
  { plan, file, range }: FileToSend,
  pieces: AsyncGenerator<Piece, void, void>,
): Promise<void> {
  const endFirstByte = job.context.timings.start('firstByte');
  const [start, end] = range === null ? [0, file.totalBytes] : [range.start, range.end + 1];
  let held: Buffer[] = [];
  let heldBytes = 0;
  let sentBytes = 0;
  const flush = async (): Promise<void> => {
    const bytes = held.length > 1 ? [Buffer.concat(held)] : held;
    sentBytes += heldBytes;
    held = [];
    heldBytes = 0;
    await job.send(...bytes);
  };
  try {
    let next = await pieces.next();
    job.signal.throwIfAborted();
    endFirstByte();
    if (next.done === true) throw changed();
    job.begin(streamHeaders(plan, { format: file.format, file, range, saveAs: job.request.saveAs }));
    let receivedBytes = 0;
    // The transfers have their own idle timeout.
    using rate = job.watchSource(() => ({ bytes: receivedBytes, mediaSeconds: 0 }));
    for (; next.done !== true; next = await rate.during(pieces.next())) {
      const { at, bytes } = next.value;
      receivedBytes += bytes.length;
      const wanted = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
      if (wanted.length === 0) continue;
      // The first bytes don't wait for a slow source to send more.
      if (sentBytes === 0 || heldBytes >= minWriteBytes) await flush();
      held.push(wanted);
      heldBytes += wanted.length;
    }
    if (sentBytes + heldBytes !== end - start) throw changed();
    await flush();
    await job.end();
  } catch (error) {
    job.signal.throwIfAborted();
    throw failureOf(error);
  } finally {
    await pieces.return();
  }
}

/** The error for bytes of another version of the file, or for too few. */
export function changed(): DomainError {
  return new DomainError('upstream_error', "The site's file has changed or is incomplete. Try again.");
}
