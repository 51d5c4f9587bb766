import { z } from 'zod';
import { maxAttributes, readAttributes } from './hls-attributes.js';
import { HlsVariants } from './hls-variants.js';
import { invalid, live, notJoinable, protectedByDrm } from '../formats/rejection.js';
import {
  readCount,
  SegmentTableWriter,
  tableSchema,
  urlSchema,
  usesVariables,
  type ByteWindow,
} from './segment-table.js';

export interface PlaylistOptions {
  /** URL of the playlist after redirects. */
  readonly baseUrl: string;
  readonly maxSegments: number;
  /** A key from the extractor that overrides the playlist's. */
  readonly key?: KeyOverride | undefined;
}

/** Overrides the fields of `EXT-X-KEY`, if the playlist has that tag. */
export interface KeyOverride {
  readonly url: string | null;
  readonly key: Uint8Array | null;
  readonly iv: Uint8Array | null;
}

export const playlistSchema = z.discriminatedUnion('kind', [
  /** A master playlist: the variant to read, and its audio if that is separate. */
  z.object({ kind: z.literal('variant'), url: urlSchema, audioUrl: urlSchema.nullable() }),
  z.object({ kind: z.literal('segments'), table: tableSchema }),
]);
export type Playlist = z.output<typeof playlistSchema>;

/**
 * Parses the playlist of a finished video (RFC 8216) in one pass. Ignores all but a few tags.
 * @throws Rejection `live_not_supported` | `drm_protected` | `no_media` | `too_long` | `upstream_error`
 */
export function readPlaylist(text: string, options: PlaylistOptions): Playlist {
  const reader = new PlaylistReader(options);
  if (!/^[^\S\n]*#EXTM3U/u.test(text)) throw invalid('sent something other than an HLS playlist');
  for (const line of linesOf(text)) reader.take(line);
  return reader.finish();
}

function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start <= text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    yield text.slice(start, end).trim();
    start = end + 1;
  }
}

class PlaylistReader {
  readonly #options: PlaylistOptions;
  readonly #table: SegmentTableWriter;
  readonly #variants = new HlsVariants();
  /** End of the last byte range, keyed by reference. */
  readonly #rangeEnds = new Map<string, number>();
  /** Current keys, keyed by KEYFORMAT. They are alternatives for the same segment. */
  #keys = new Map<string, ReadonlyMap<string, string>>();
  #hasSegmentSinceKey = false;
  /** Number of the current key; undefined until a segment needs it. */
  #keyNumber: number | undefined;
  #initialisation: number | null = null;
  #sequence = 0;
  #seconds: number | null = null;
  #isRounded = false;
  #range: string | null = null;
  #isDiscontinuity = false;
  #isAdvertisement = false;
  #variant: ReadonlyMap<string, string> | null = null;
  #isFinished = false;

  constructor(options: PlaylistOptions) {
    this.#options = options;
    this.#table = new SegmentTableWriter(options.maxSegments, options.baseUrl);
  }

  take(line: string): void {
    if (line === '') return;
    if (!line.startsWith('#')) {
      this.#takeUrl(line);
      return;
    }
    const colon = line.indexOf(':');
    const value = colon === -1 ? '' : line.slice(colon + 1);
    switch (colon === -1 ? line : line.slice(0, colon)) {
      case '#EXTINF':
        this.#seconds = readSeconds(value);
        this.#isRounded = !/^ ?\d{1,9}\./.test(value);
        break;
      case '#EXT-X-BYTERANGE':
        this.#range = value;
        break;
      case '#EXT-X-DISCONTINUITY':
        this.#isDiscontinuity = true;
        break;
      case '#EXT-X-MEDIA-SEQUENCE':
        this.#sequence = readCount(value);
        break;
      case '#EXT-X-KEY':
        this.#takeKey(readAttributes(value));
        break;
      case '#EXT-X-MAP':
        this.#takeMap(readAttributes(value));
        break;
      case '#EXT-X-STREAM-INF':
        this.#variant = readAttributes(value);
        break;
      case '#EXT-X-MEDIA':
        this.#variants.addRendition(readAttributes(value));
        break;
      case '#EXT-X-GAP':
      case '#EXT-X-SKIP':
        throw notJoinable('has missing segments');
      case '#EXT-X-I-FRAMES-ONLY':
        throw notJoinable('has key frames only');
      case '#EXT-X-DEFINE':
        throw usesVariables();
      // Ads that these platforms stitch in, recognised the same way as in yt-dlp.
      case '#ANVATO-SEGMENT-INFO':
        if (value.includes('type=ad')) this.#isAdvertisement = true;
        else if (value.includes('type=master')) this.#isAdvertisement = false;
        break;
      case '#UPLYNK-SEGMENT':
        if (value.endsWith(',ad')) this.#isAdvertisement = true;
        else if (value.endsWith(',segment')) this.#isAdvertisement = false;
        break;
      case '#EXT-X-PLAYLIST-TYPE':
        if (value === 'VOD') this.#isFinished = true;
        break;
      case '#EXT-X-ENDLIST':
        this.#isFinished = true;
        break;
    }
  }

  finish(): Playlist {
    const variant = this.#variants.best(this.#options.baseUrl);
    if (variant !== null) return { kind: 'variant', ...variant };
    if (!this.#isFinished) throw live();
    if (this.#table.length === 0) throw invalid('sent an empty playlist');
    return { kind: 'segments', table: this.#table.finish() };
  }

  #takeUrl(uri: string): void {
    if (this.#variant !== null) {
      this.#variants.add(this.#variant, uri);
      this.#variant = null;
      return;
    }
    const range = this.#range === null ? null : this.#window(this.#range, uri);
    if (!this.#isAdvertisement) this.#addSegment(uri, range);
    this.#sequence += 1;
    this.#seconds = null;
    this.#range = null;
    // The clock may change after an ad.
    this.#isDiscontinuity = this.#isAdvertisement;
    this.#hasSegmentSinceKey = true;
  }

  #addSegment(uri: string, range: ByteWindow | null): void {
    this.#table.add({
      reference: uri,
      range,
      key: this.#currentKey(),
      initialisation: this.#initialisation,
      seconds: this.#seconds,
      sequence: this.#sequence,
      isRounded: this.#isRounded,
      isDiscontinuity: this.#isDiscontinuity,
    });
  }

  #takeKey(attributes: ReadonlyMap<string, string>): void {
    this.#keyNumber = undefined;
    if (attributes.get('METHOD') === 'NONE') {
      this.#keys = new Map();
      return;
    }
    // Consecutive key tags are alternatives; a key tag after a segment replaces the earlier keys.
    if (this.#hasSegmentSinceKey) this.#keys = new Map();
    this.#hasSegmentSinceKey = false;
    if (this.#keys.size >= maxAttributes) throw invalid('sent a playlist with too many keys');
    this.#keys.set(attributes.get('KEYFORMAT') ?? 'identity', attributes);
  }

  #currentKey(): number | null {
    if (this.#keys.size === 0) return null;
    this.#keyNumber ??= this.#addKey();
    return this.#keyNumber;
  }

  #addKey(): number {
    const { key } = this.#options;
    const attributes = this.#keys.get('identity');
    if (attributes?.get('METHOD') !== 'AES-128') throw protectedByDrm();
    const iv = key?.iv ?? readIv(attributes.get('IV'));
    if (key?.key != null) return this.#table.addKey(null, key.key, iv);
    const uri = key?.url ?? attributes.get('URI') ?? '';
    const data = /^data:[\w.+/-]{0,50};base64,([\w+/=]{1,64})$/i.exec(uri)?.[1];
    if (data !== undefined) return this.#table.addKey(null, Buffer.from(data, 'base64'), iv);
    if (uri === '') throw invalid('sent a playlist with a key without a URL');
    return this.#table.addKey(uri, null, iv);
  }

  #takeMap(attributes: ReadonlyMap<string, string>): void {
    const uri = attributes.get('URI') ?? '';
    if (uri === '') throw invalid('sent a playlist with an initialisation without a URL');
    const range = attributes.get('BYTERANGE');
    // Without an offset it is at the start, whatever segments came before.
    const window = range === undefined ? null : this.#window(range.includes('@') ? range : `${range}@0`, uri);
    // Only encrypted if it has its own IV, since it has no sequence number to derive one from.
    const isEncrypted = this.#keys.get('identity')?.has('IV') === true;
    this.#initialisation = this.#table.addInitialisation(
      uri,
      window,
      isEncrypted ? this.#currentKey() : null,
    );
  }

  /** `<length>[@<offset>]`; without an offset it continues where the last range of the same reference ended. */
  #window(range: string, uri: string): ByteWindow {
    const match = /^(\d{1,15})(?:@(\d{1,15}))?$/.exec(range);
    const length = Number(match?.[1]);
    const start = match?.[2] === undefined ? (this.#rangeEnds.get(uri) ?? 0) : Number(match[2]);
    if (!match || length === 0) throw invalid('sent a playlist with an invalid byte range');
    this.#rangeEnds.set(uri, start + length);
    return { start, end: start + length - 1 };
  }
}

/** `9.009,Title`: the seconds before the comma. */
function readSeconds(value: string): number | null {
  const seconds = Number(/^ ?(\d{1,9}(?:\.\d{1,9})?)/.exec(value)?.[1] ?? NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

function readIv(value: string | undefined): Uint8Array | null {
  if (value === undefined) return null;
  const digits = /^0x([0-9a-f]{1,32})$/i.exec(value)?.[1];
  if (digits === undefined) throw invalid('sent a playlist with an invalid IV');
  return Buffer.from(digits.padStart(32, '0'), 'hex');
}
