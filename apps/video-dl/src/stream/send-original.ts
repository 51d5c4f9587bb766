import type { ServerResponse } from 'node:http';
import { DomainError, type StageTimings } from '@media-services/http-common';
import type { Plan } from '../plan/plan.js';
import { failureOf, type ObjectReader } from '../upstream/upstream.js';
import { watched, type StreamAbort, type StreamLimits } from './limits.js';
import { firstByteTimeout } from './output.js';
import type { Selection } from './ranges.js';
import { clientWriter, streamHeaders, type KnownFile } from './response.js';

interface OriginalJob {
  readonly plan: Plan;
  readonly file: KnownFile;
  readonly reader: ObjectReader;
  readonly selection: Selection;
  readonly status: 200 | 206;
  readonly response: ServerResponse;
  readonly abort: StreamAbort;
  readonly limits: StreamLimits;
  readonly timings: StageTimings;
  onBytes(bytes: number): void;
}

/**
 * Sends the site's own file, or the chosen part of it: no header before the first
 * byte is there, no end before the last.
 *
 * @throws DomainError what failed, or the abort's reason. If headers have been sent by then, the connection must be reset.
 */
export async function sendOriginal(job: OriginalJob): Promise<void> {
  const { plan, file, selection, status, response, abort, limits } = job;
  const endFirstByte = job.timings.start('firstByte');
  const range = selection.kind === 'part' ? { start: selection.start, end: selection.end } : null;
  const expected = range === null ? file.totalBytes : range.end - range.start + 1;
  try {
    const first = await watched(
      limits.firstByteTimeoutMs,
      () => abort.abort(firstByteTimeout(limits)),
      async () => {
        const transfer = await job.reader.open(range);
        // Two versions of one file need not differ in anything but their length.
        if (transfer.total !== file.totalBytes) throw changed();
        const chunks = transfer.chunks();
        return { chunks, next: await chunks.next() };
      },
    );
    endFirstByte();
    abort.signal.throwIfAborted();
    let { next } = first;
    if (next.done === true) throw changed();
    response.writeHead(status, streamHeaders(plan, { file, selection, headerBytes: 0 }));
    const writer = clientWriter(response, job);
    let sent = 0;
    for (; next.done !== true; next = await first.chunks.next()) {
      sent += next.value.length;
      job.onBytes(next.value.length);
      await writer.write(next.value);
    }
    if (sent !== expected) throw changed();
    await writer.end();
  } catch (error) {
    abort.signal.throwIfAborted();
    throw failureOf(error);
  }
}

function changed(): DomainError {
  return new DomainError('upstream_error', "The site's file has changed or is incomplete. Try again.");
}
