import type { ServerResponse } from 'node:http';
import { DomainError, type StageTimings } from '@media-services/http-common';
import { FrameChain } from '../containers/structure/frame-chain.js';
import { DamagedMediaError } from '../containers/structure/structure-check.js';
import type { Plan } from '../plan/plan.js';
import { failureOf, type ObjectReader } from '../upstream/upstream.js';
import type { FirstByteDeadline, StreamAbort, StreamLimits } from './limits.js';
import type { Selection } from './ranges.js';
import { slowSource } from './output.js';
import { SourceRate } from './source-rate.js';
import { clientWriter, streamHeaders, type KnownFile } from './response.js';

interface OriginalJob {
  readonly plan: Plan;
  readonly file: KnownFile;
  readonly reader: ObjectReader;
  readonly selection: Selection;
  readonly status: 200 | 206;
  readonly response: ServerResponse;
  readonly abort: StreamAbort;
  /** Met with the first byte. */
  readonly deadline: FirstByteDeadline;
  readonly limits: StreamLimits;
  readonly timings: StageTimings;
  onBytes(bytes: number): void;
  /** Whether others wait for a slot. */
  isCrowded(): boolean;
}

/**
 * Sends the site's own file, or the chosen part of it: no header before the first
 * byte is there, no end before the last.
 *
 * @throws DomainError what failed, or the abort's reason. If headers have been sent by then, the connection must be reset.
 */
export async function sendOriginal(job: OriginalJob): Promise<void> {
  const { plan, file, selection, status, response, abort, deadline } = job;
  const endFirstByte = job.timings.start('firstByte');
  const range = selection.kind === 'part' ? { start: selection.start, end: selection.end } : null;
  const expected = range === null ? file.totalBytes : range.end - range.start + 1;
  try {
    const transfer = await job.reader.open(range);
    const chunks = transfer.chunks();
    try {
      // Two versions of one file need not differ in anything but their length.
      if (transfer.total !== file.totalBytes) throw changed();
      let next = await chunks.next();
      abort.signal.throwIfAborted();
      deadline[Symbol.dispose]();
      endFirstByte();
      if (next.done === true) throw changed();
      response.writeHead(status, streamHeaders(plan, { file, selection, headerBytes: 0 }));
      const writer = clientWriter(response, job);
      // Of an MP4's content, nothing tells where it is noise.
      const structure = plan.original === 'mp3' ? new FrameChain() : null;
      let sent = 0;
      using rate = new SourceRate({
        progress: () => ({ bytes: sent, mediaSeconds: 0 }),
        minBytesPerMinute: job.limits.minSourceBytesPerMinute,
        isCrowded: () => job.isCrowded(),
        onStarved: () => abort.abort(slowSource()),
        // The transfer has its own idle timeout.
        maxSilenceMs: Infinity,
        onSilent: () => undefined,
      });
      for (; next.done !== true; next = await rate.during(chunks.next())) {
        structure?.push(next.value);
        sent += next.value.length;
        job.onBytes(next.value.length);
        await writer.write(next.value);
      }
      if (sent !== expected) throw changed();
      await writer.end();
    } finally {
      // What was not read to its end is let go of.
      transfer.discard();
      await chunks.return();
    }
  } catch (error) {
    abort.signal.throwIfAborted();
    throw error instanceof DamagedMediaError ? damaged(error) : failureOf(error);
  }
}

function damaged({ message }: DamagedMediaError): DomainError {
  return new DomainError('upstream_error', `The site's file is damaged: ${message}. Try again later.`);
}

function changed(): DomainError {
  return new DomainError('upstream_error', "The site's file has changed or is incomplete. Try again.");
}
