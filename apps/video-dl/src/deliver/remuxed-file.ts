import type { Layout } from '../formats/mp4/remux/layout.js';
import type { LaidOut } from '../look/layouts.js';
import { isSameCodec } from '../formats/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { RenewSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
import { formats, type KnownFile, type StreamFormat } from './response.js';
import { digest } from './site-file.js';

/** An MP4 that consists of a new header and parts of the site's files. */
export interface RemuxedFile extends KnownFile {
  readonly format: StreamFormat;
  readonly layout: Layout;
  /** The site's files, in the order of the plan's inputs. */
  readonly sources: readonly RemuxSource[];
}

export interface RemuxSource {
  readonly object: RemoteObject;
  readonly totalBytes: number;
  /** The outbound proxy for its URL. */
  readonly exit: number | undefined;
}

/** Whether a layout has what is planned. */
export function isPlanned({ tracks }: Layout, { video, audio }: Plan): boolean {
  const codecOf = (type: 'video' | 'audio') => tracks.find((track) => track.type === type)?.codec;
  return isSameCodec(codecOf('video'), video?.codec) && isSameCodec(codecOf('audio'), audio?.codec);
}

/** The MP4 of a layout. */
export function remuxedFileOf(
  { inputs, video, expected }: Plan,
  { layout, heads, headerDigest }: LaidOut,
  { upstream, renew }: { readonly upstream: Upstream; readonly renew: RenewSource },
): RemuxedFile {
  const sources = inputs.flatMap((source, index) => {
    const { identity, totalBytes } = heads[index] ?? {};
    if (identity === undefined || totalBytes == null) return [];
    return [{ object: upstream.object(source, renew, identity), totalBytes, exit: source.origin?.exit }];
  });
  const mediaBytes = layout.lengths.reduce((sum, bytes) => sum + bytes, 0);
  const totalBytes = layout.header.length + mediaBytes;
  // Changes with the header, which has the page's title.
  const tags = heads.flatMap(({ identity }) => identity.strongEtag ?? []);
  const etag = tags.length < heads.length ? null : `"${digest(headerDigest, ...tags)}"`;
  const seconds = Math.round(Math.max(...layout.tracks.map((track) => track.seconds)) * 1e6) / 1e6;
  const format = video === null ? formats.m4a : formats.mp4;
  const file = { format, layout, sources, totalBytes, hasRanges: true, etag };
  return expected.clip === null ? file : { ...file, seconds };
}
