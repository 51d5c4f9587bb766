import { DomainError } from '@media-services/http-common';
import type { ParserPool } from '../parser-process/parser-pool.js';
import type { MediaSource } from '../upstream/media-source.js';
import { Transfer } from '../upstream/transfer.js';
import { failureOf, type ReaderOptions, type Upstream } from '../upstream/upstream.js';
import type { SourceHead } from './source-heads.js';

/** A response that has been looked at and is still to be delivered. */
export interface OpenedFile {
  readonly head: SourceHead;
  /** As the response states it; null if it doesn't. */
  readonly total: number | null;
  /** All of its bytes, once. @throws TransferFault, including when they end early; the signal's reason */
  chunks(): AsyncGenerator<Buffer, void, void>;
  discard(): void;
}

interface OneShotOptions extends Omit<ReaderOptions, 'renew'> {
  readonly upstream: Upstream;
  readonly parsers: Pick<ParserPool, 'forClient'>;
}

const windowBytes = 128 * 1024;
const maxHeadBytes = 4 * 1024 ** 2;

/**
 * Requests a file whose bytes differ with each response, and reads its header from the beginning of the only
 * response.
 * @throws DomainError when the file can't be read, or not in one pass; the signal's reason
 */
export async function openOneShot(
  source: MediaSource,
  { upstream, parsers, signal, client }: OneShotOptions,
): Promise<OpenedFile> {
  const object = upstream.object(source, { signal, client });
  const transfer = await Transfer.open(object, null, signal).catch((error: unknown) => {
    throw failureOf(error);
  });
  const chunks = transfer.chunks();
  const parse = parsers.forClient(client);
  const { total } = transfer;
  let beginning: Buffer = Buffer.alloc(0);
  try {
    for (let wanted = windowBytes; ;) {
      while (beginning.length < wanted) {
        const next = await chunks.next();
        if (next.done === true) break;
        beginning = Buffer.concat([beginning, next.value]);
      }
      const pieces = [{ offset: 0, bytes: beginning, isEnd: beginning.length < wanted }];
      const step = await parse({ kind: 'head', pieces, totalBytes: total, hasRanges: false }, signal);
      if (step.kind === 'head') {
        const head = { ...step, source, identity: object.identity, totalBytes: total, isOneShot: true };
        return { head, total, chunks: () => chain(beginning, chunks), discard: () => transfer.discard() };
      }
      wanted = Math.max(...step.parts.map(({ offset, bytes }) => offset + bytes));
      if (wanted > maxHeadBytes) throw notInOnePass();
    }
  } catch (error) {
    transfer.discard();
    throw failureOf(error);
  }
}

async function* chain(
  first: Buffer,
  rest: AsyncGenerator<Buffer, void, void>,
): AsyncGenerator<Buffer, void, void> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

export function notInOnePass(): DomainError {
  return new DomainError(
    'no_media',
    'The site sends another version of this file with each response, and its header is not at its beginning, so it can be read neither at once nor in parts. Try another format or page.',
  );
}
