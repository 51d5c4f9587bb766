import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { childBoxes, isDamage } from '../formats/mp4/box.js';
import { FragmentClock } from '../formats/mp4/fragment-clock.js';
import { readMovieHeader } from '../formats/mp4/movie-header.js';
import { FragmentRewriter } from '../formats/mp4/remux/fragment-rewriter.js';
import type { Layout } from '../formats/mp4/remux/layout.js';
import type { LaidOut } from '../look/layouts.js';
import { UnexpectedMediaError } from '../look/learnt.js';
import type { SourceHead } from '../look/source-heads.js';
import { isSameCodec } from '../formats/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { ByteRange } from '../upstream/byte-range.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import { Transfer } from '../upstream/transfer.js';
import { partsBetween, rangesOfSources } from './layout-parts.js';
import type { Part } from './ranges.js';
import { formats, type KnownFile, type StreamFormat } from './response.js';
import { changed, type Piece, type ReadOptions } from './send-file.js';
import { etagOf } from './site-file.js';

/** An MP4 that consists of a new header and parts of the site's files. */
export interface RemuxedFile extends KnownFile {
  readonly format: StreamFormat;
  readonly layout: Layout;
  /** Of the site's files, in the order of the plan's inputs. */
  readonly heads: readonly SourceHead[];
}

/** Whether a layout has what is planned. */
export function isPlanned({ tracks }: Layout, { video, audio }: Plan): boolean {
  const codecOf = (type: 'video' | 'audio') => tracks.find((track) => track.type === type)?.codec;
  return isSameCodec(codecOf('video'), video?.codec) && isSameCodec(codecOf('audio'), audio?.codec);
}

/** The MP4 of a layout. */
export function remuxedFileOf({ video, expected }: Plan, { layout, heads }: LaidOut): RemuxedFile {
  const mediaBytes = layout.lengths.reduce((sum, bytes) => sum + bytes, 0);
  const totalBytes = layout.header.length + mediaBytes;
  // Changes with the header, which has the page's title.
  const headerDigest = createHash('sha256').update(layout.header).digest('hex');
  const etag = etagOf(headerDigest, ...heads.map(({ identity }) => identity.strongEtag));
  const seconds = Math.round(Math.max(...layout.tracks.map((track) => track.seconds)) * 1e6) / 1e6;
  const format = video === null ? formats.m4a : formats.mp4;
  const file = { format, layout, heads, totalBytes, hasRanges: true, etag };
  return expected.clip === null ? file : { ...file, seconds };
}

const partsAtOnce = 256;

/**
 * Reads a remuxed file, or what contains a part of it: its header, then parts of the site's files. The header comes
 * once each file has delivered a byte.
 * @throws DomainError, TransferFault; the signal's reason
 */
export async function* readRemuxed(
  { layout, heads, totalBytes }: RemuxedFile,
  range: Part | null,
  { upstream, ...options }: ReadOptions,
): AsyncGenerator<Piece, void, void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const [start, end] = range === null ? [0, totalBytes] : [range.start, range.end + 1];
  const ranges = rangesOfSources(layout, start, end);
  const readers = heads.map((head, number) => {
    const object = upstream.object(head.source, { ...options, signal }, head.identity);
    return partReader(readRanges(object, ranges.get(number) ?? [], head, signal));
  });
  const tracks = fragmentTracks(layout);
  try {
    await Promise.all([...ranges.keys()].map(async (source) => readers[source]?.advance()));
    const { buffer, byteOffset, length } = layout.header;
    yield { at: 0, bytes: Buffer.from(buffer, byteOffset, length) };
    for (const part of partsBetween(layout, start, end)) {
      // Parts of a few bytes are all there at once.
      if (part.number % partsAtOnce === 0) await setImmediate();
      const rewriter = tracks?.rewriters[part.source];
      rewriter?.begin({ number: part.number, shiftBytes: part.position - part.offset });
      let at = part.position;
      for (let done = 0; done < part.bytes;) {
        const bytes = await readers[part.source]?.read(part.offset + done, part.bytes - done);
        if (bytes === undefined) throw new Error('a part has a source');
        done += bytes.length;
        for (const output of rewriter?.push(bytes) ?? [bytes]) {
          yield { at, bytes: output };
          at += output.length;
        }
      }
      if (part.isWhole) rewriter?.end();
    }
    if (range === null) tracks?.assertComplete();
  } catch (error) {
    throw isDamage(error) ? wrongIndex("its fragments don't match it", error) : error;
  } finally {
    ended.abort(new Error('the file has been read'));
    await Promise.all(readers.map(async (reader) => reader.close()));
  }
}

/** Finds parts in the pieces of one of the site's files, in its order. */
function partReader(pieces: AsyncGenerator<Piece, void, void>) {
  let latest: Piece = { at: 0, bytes: Buffer.alloc(0) };
  const advance = async (): Promise<void> => {
    const next = await pieces.next();
    if (next.done === true) throw changed();
    latest = next.value;
  };
  /** The next bytes from `offset` on, at least one and at most `maxBytes`. */
  const read = async (offset: number, maxBytes: number): Promise<Buffer> => {
    while (latest.at + latest.bytes.length <= offset) await advance();
    const from = offset - latest.at;
    return latest.bytes.subarray(from, from + maxBytes);
  };
  return { advance, read, close: () => pieces.return() };
}

async function* readRanges(
  object: RemoteObject,
  ranges: readonly ByteRange[],
  { totalBytes }: SourceHead,
  signal: AbortSignal,
): AsyncGenerator<Piece, void, void> {
  for (const range of ranges) {
    const transfer = await Transfer.open(object, range, signal);
    if (transfer.total !== totalBytes) throw changed();
    let at = range.start;
    for await (const bytes of transfer.chunks()) {
      yield { at, bytes };
      at += bytes.length;
    }
  }
}

function fragmentTracks({ header, fragmentTracks: ids, tracks }: Layout) {
  if (ids === null) return null;
  const bytes = Buffer.from(header);
  const moov = childBoxes(bytes, 0).find(({ type }) => type === 'moov');
  const clock = new FragmentClock(moov === undefined ? [] : readMovieHeader(moov.bytes).tracks);
  return {
    rewriters: ids.map((id) => new FragmentRewriter(id, (moof) => clock.add(moof))),
    /** @throws UnexpectedMediaError if the fragments are shorter than their index says */
    assertComplete: (): void => {
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
