import { DomainError } from '@media-services/http-common';
import { FrameChain } from '../formats/mpeg-audio/frame-chain.js';
import { MatroskaElements } from '../formats/matroska/elements.js';
import { Mp4Boxes } from '../formats/mp4/top-level-boxes.js';
import { OggPages } from '../formats/ogg/pages.js';
import { DamagedMediaError, type StructureCheck } from '../formats/structure-check.js';
import type { Plan } from '../plan/plan.js';
import type { ByteRange } from '../upstream/byte-range.js';
import type { Transfer } from '../upstream/transfer.js';
import { failureOf } from '../upstream/upstream.js';
import type { StreamJob } from './job.js';
import type { Selection } from './ranges.js';
import { streamHeaders, type KnownFile } from './response.js';
import { withZeroed, type SiteFile } from './site-file.js';

/** Opens the file, or the part of it that the client wants. */
export interface FileReader {
  open(range: ByteRange | null): Promise<Pick<Transfer, 'total' | 'chunks' | 'discard'>>;
}

interface FileToSend {
  readonly plan: Plan;
  readonly file: SiteFile & KnownFile;
  readonly reader: FileReader;
  readonly selection: Selection;
  readonly status: 200 | 206;
}

/**
 * Sends the site's own file or a part of it. Sends no header before the first byte has
 * arrived and doesn't end the response before the last.
 *
 * @throws DomainError or the abort's reason. If headers have been sent by then, the connection must be reset.
 */
export async function passOn(
  job: StreamJob,
  { plan, file, reader, selection, status }: FileToSend,
): Promise<void> {
  const endFirstByte = job.context.timings.start('firstByte');
  const range = selection.kind === 'part' ? { start: selection.start, end: selection.end } : null;
  const expected = range === null ? file.totalBytes : range.end - range.start + 1;
  try {
    const transfer = await reader.open(range);
    const chunks = transfer.chunks();
    try {
      // Two versions of a file may differ only in length.
      if (transfer.total !== file.totalBytes) throw changed();
      let next = await chunks.next();
      job.signal.throwIfAborted();
      endFirstByte();
      if (next.done === true) throw changed();
      job.begin(
        status,
        streamHeaders(plan, { format: file.format, file, selection, saveAs: job.request.saveAs }),
      );
      const structure = structureOf(file, range === null);
      let sent = 0;
      // The transfer has its own idle timeout.
      using rate = job.watchSource(() => ({ bytes: sent, mediaSeconds: 0 }));
      for (; next.done !== true; next = await rate.during(chunks.next())) {
        structure?.push(next.value);
        const chunk = withZeroed(next.value, (range?.start ?? 0) + sent, file.zeroed);
        sent += chunk.length;
        await job.send(chunk);
      }
      if (sent !== expected) throw changed();
      structure?.end?.();
      await job.end();
    } finally {
      transfer.discard();
      await chunks.return();
    }
  } catch (error) {
    job.signal.throwIfAborted();
    throw error instanceof DamagedMediaError ? damaged(error) : failureOf(error);
  }
}

/** The check for a file's format; most can't be checked from the middle. */
function structureOf({ format }: SiteFile, isWhole: boolean): Pick<StructureCheck, 'push' | 'end'> | null {
  const { extension } = format;
  if (extension === 'mp3') return new FrameChain();
  if (!isWhole) return null;
  if (extension === 'ogg' || extension === 'opus') return new OggPages();
  if (extension === 'mp4' || extension === 'm4a') return new Mp4Boxes();
  return extension === 'webm' ? new MatroskaElements(true) : null;
}

function damaged({ message }: DamagedMediaError): DomainError {
  return new DomainError('upstream_error', `The site's file is damaged: ${message}. Try again later.`);
}

/** The error for bytes of another version of the file, or for too few. */
export function changed(): DomainError {
  return new DomainError('upstream_error', "The site's file has changed or is incomplete. Try again.");
}
