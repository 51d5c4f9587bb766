import { DomainError } from '@media-services/http-common';
import { brokenRules, TransferFault } from '../../upstream/transfer-fault.js';
import {
  resolveUrl,
  type EncryptedPart,
  type PartKey,
  type Segment,
  type SegmentList,
} from '../segment-list.js';
import { notJoinable } from '../join/joiner.js';

/** A playlist that names other playlists: the same medium in several qualities. */
export interface MasterPlaylist {
  readonly kind: 'master';
  readonly variants: readonly Variant[];
}

export interface Variant {
  readonly url: string;
  /** Bits a second. */
  readonly bandwidth: number;
  /** Pixels of the smaller side; null where it is not said. */
  readonly smallerSide: number | null;
  /** The playlist of its sound, where that is apart. */
  readonly audioUrl: string | null;
}

export interface MediaPlaylist {
  readonly kind: 'media';
  readonly segments: SegmentList;
}

const maxVariants = 200;
const maxLines = 100_000;
const maxAttributes = 64;

/**
 * Reads a playlist of a finished medium (RFC 8216): from a few tags, in one pass,
 * into a structure of our own. Whatever else stands in it is not looked at.
 * @param baseUrl where it came from, after redirects
 * @throws TransferFault `live_not_supported` | `drm_protected` | `upstream_error`
 */
export function parsePlaylist(
  text: string,
  baseUrl: string,
  maxSegments: number,
): MasterPlaylist | MediaPlaylist {
  const reader = new PlaylistReader(baseUrl, maxSegments);
  let lines = 0;
  for (const line of linesOf(text)) {
    if (lines === 0 && !line.startsWith('#EXTM3U'))
      throw brokenRules('sent something else than the HLS playlist it named');
    lines += 1;
    if (lines > maxLines) throw brokenRules('sent a playlist with too many lines');
    reader.take(line);
  }
  return reader.finish();
}

function* linesOf(text: string): Generator<string> {
  let start = text.startsWith('\uFEFF') ? 1 : 0;
  while (start <= text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    yield text.slice(start, end).trim();
    start = end + 1;
  }
}

interface Rendition {
  readonly group: string;
  readonly url: string | null;
  readonly isDefault: boolean;
}

type UnresolvedVariant = Omit<Variant, 'audioUrl'> & { readonly audioGroup: string | null };

class PlaylistReader {
  readonly #baseUrl: string;
  readonly #maxSegments: number;
  readonly #segments: Segment[] = [];
  readonly #variants: UnresolvedVariant[] = [];
  readonly #renditions: Rendition[] = [];
  /** Where the last byte range of a URL ended. */
  readonly #rangeEnds = new Map<string, number>();
  /** In force, by KEYFORMAT: one segment may be readable with several. */
  #keys = new Map<string, ReadonlyMap<string, string>>();
  #hasSegmentSinceKey = false;
  #initialisation: EncryptedPart | null = null;
  #mediaSequence = 0;
  #seconds: number | null = null;
  #isRounded = false;
  #range: string | null = null;
  #isDiscontinuity = false;
  #variant: ReadonlyMap<string, string> | null = null;
  #isFinished = false;

  constructor(baseUrl: string, maxSegments: number) {
    this.#baseUrl = baseUrl;
    this.#maxSegments = maxSegments;
  }

  take(line: string): void {
    if (line === '') return;
    if (!line.startsWith('#')) {
      this.#url(line);
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
        this.#mediaSequence = readWhole(value);
        break;
      case '#EXT-X-KEY':
        this.#key(readAttributes(value));
        break;
      case '#EXT-X-MAP':
        this.#map(readAttributes(value));
        break;
      case '#EXT-X-STREAM-INF':
        this.#variant = readAttributes(value);
        break;
      case '#EXT-X-MEDIA':
        this.#rendition(readAttributes(value));
        break;
      case '#EXT-X-GAP':
        throw brokenRules('sent a playlist with a gap in it');
      case '#EXT-X-PLAYLIST-TYPE':
        if (value === 'VOD') this.#isFinished = true;
        break;
      case '#EXT-X-ENDLIST':
        this.#isFinished = true;
        break;
    }
  }

  finish(): MasterPlaylist | MediaPlaylist {
    if (this.#variants.length > 0) return { kind: 'master', variants: this.#resolvedVariants() };
    if (!this.#isFinished) {
      const detail =
        'This is a live broadcast. Only finished videos can be read; try again when it has ended.';
      throw new TransferFault(new DomainError('live_not_supported', detail), 'none');
    }
    if (this.#segments.length === 0) throw brokenRules('sent an empty playlist');
    return { kind: 'media', segments: this.#segments };
  }

  #url(uri: string): void {
    if (this.#variant !== null) {
      this.#addVariant(this.#variant, uri);
      this.#variant = null;
      return;
    }
    if (this.#segments.length >= this.#maxSegments)
      throw brokenRules('sent a playlist with too many segments');
    const url = resolveUrl(uri, this.#baseUrl);
    const sequence = this.#mediaSequence + this.#segments.length;
    this.#segments.push({
      url,
      range: this.#range === null ? null : this.#window(this.#range, url),
      key: this.#keyOf(sequence),
      initialisation: this.#initialisation,
      seconds: this.#seconds,
      isRounded: this.#isRounded,
      isDiscontinuity: this.#isDiscontinuity,
    });
    this.#seconds = null;
    this.#range = null;
    this.#isDiscontinuity = false;
    this.#hasSegmentSinceKey = true;
  }

  #addVariant(attributes: ReadonlyMap<string, string>, uri: string): void {
    if (this.#variants.length >= maxVariants) throw brokenRules('sent a playlist with too many variants');
    const [width, height] = (attributes.get('RESOLUTION') ?? '').split('x', 2).map(Number);
    this.#variants.push({
      url: resolveUrl(uri, this.#baseUrl),
      bandwidth: readWhole(attributes.get('BANDWIDTH') ?? '0'),
      smallerSide: width && height ? Math.min(width, height) : null,
      audioGroup: attributes.get('AUDIO') ?? null,
    });
  }

  #rendition(attributes: ReadonlyMap<string, string>): void {
    if (attributes.get('TYPE') !== 'AUDIO') return;
    if (this.#renditions.length >= maxVariants) throw brokenRules('sent a playlist with too many renditions');
    const uri = attributes.get('URI');
    this.#renditions.push({
      group: attributes.get('GROUP-ID') ?? '',
      url: uri === undefined ? null : resolveUrl(uri, this.#baseUrl),
      isDefault: attributes.get('DEFAULT') === 'YES',
    });
  }

  #resolvedVariants(): Variant[] {
    return this.#variants.map(({ audioGroup, ...variant }) => {
      const group = this.#renditions.filter((rendition) => rendition.group === audioGroup);
      const chosen = group.find(({ isDefault }) => isDefault) ?? group[0];
      return { ...variant, audioUrl: chosen?.url ?? null };
    });
  }

  #key(attributes: ReadonlyMap<string, string>): void {
    if (attributes.get('METHOD') === 'NONE') {
      this.#keys = new Map();
      return;
    }
    // Key tags that follow each other are alternatives, later ones replace what was in force.
    if (this.#hasSegmentSinceKey) this.#keys = new Map();
    this.#hasSegmentSinceKey = false;
    this.#keys.set(attributes.get('KEYFORMAT') ?? 'identity', attributes);
  }

  /** @param sequence the segment's number, which is its IV where none is given (RFC 8216, 5.2) */
  #keyOf(sequence: number): PartKey | null {
    if (this.#keys.size === 0) return null;
    const attributes = this.#keys.get('identity');
    if (attributes?.get('METHOD') !== 'AES-128') {
      const detail = 'The video is protected (DRM, or encryption of single samples) and cannot be read.';
      throw new TransferFault(new DomainError('drm_protected', detail), 'none');
    }
    return {
      key: readKeyUri(attributes.get('URI') ?? '', this.#baseUrl),
      iv: readIv(attributes.get('IV'), sequence),
    };
  }

  #map(attributes: ReadonlyMap<string, string>): void {
    const url = resolveUrl(attributes.get('URI') ?? '', this.#baseUrl);
    const range = attributes.get('BYTERANGE');
    const window = range === undefined ? null : this.#window(range, url);
    // Encrypted only with an IV of its own: it has no number to take one from.
    const isEncrypted = this.#keys.get('identity')?.has('IV') === true;
    this.#initialisation = { url, range: window, key: isEncrypted ? this.#keyOf(0) : null };
  }

  /** `<length>[@<offset>]`; without offset it goes on where the last range of the same URL ended. */
  #window(range: string, url: string): { start: number; end: number } {
    const match = /^(\d{1,15})(?:@(\d{1,15}))?$/.exec(range);
    const length = Number(match?.[1]);
    const start = match?.[2] === undefined ? (this.#rangeEnds.get(url) ?? 0) : Number(match[2]);
    if (!match || length === 0) throw brokenRules('sent a playlist with an invalid byte range');
    this.#rangeEnds.set(url, start + length);
    return { start, end: start + length - 1 };
  }
}

/** The variant to read: the largest that is no larger than 1080p, of those with sound in them rather than without. */
export function chooseVariant({ variants }: MasterPlaylist): Variant {
  const fitting = variants.filter(({ smallerSide }) => smallerSide === null || smallerSide <= 1080);
  const [best] = (fitting.length > 0 ? fitting : variants).toSorted((a, b) => b.bandwidth - a.bandwidth);
  if (best === undefined) throw notJoinable('offers nothing to choose from');
  return best;
}

/** `9.009,Title`: seconds in front of the comma. */
function readSeconds(value: string): number | null {
  const seconds = Number(/^ ?(\d{1,9}(?:\.\d{1,9})?)/.exec(value)?.[1] ?? NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

function readWhole(value: string): number {
  return /^\d{1,15}$/.test(value) ? Number(value) : 0;
}

function readIv(value: string | undefined, sequence: number): Buffer {
  if (value !== undefined) {
    const digits = /^0x([0-9a-f]{1,32})$/i.exec(value)?.[1];
    if (digits === undefined) throw brokenRules('sent a playlist with an invalid IV');
    return Buffer.from(digits.padStart(32, '0'), 'hex');
  }
  const iv = Buffer.alloc(16);
  iv.writeBigUInt64BE(BigInt(sequence), 8);
  return iv;
}

function readKeyUri(uri: string, baseUrl: string): string | Buffer {
  const data = /^data:[\w.+/-]{0,50};base64,([\w+/=]{1,64})$/i.exec(uri)?.[1];
  return data === undefined ? resolveUrl(uri, baseUrl) : Buffer.from(data, 'base64');
}

/**
 * The attributes of a tag by name, without quotes (RFC 8216, 4.2), in one pass.
 * @throws TransferFault when it is no such list
 */
function readAttributes(list: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  let at = 0;
  while (at < list.length) {
    const equals = list.indexOf('=', at);
    if (equals === -1) break;
    const name = list.slice(at, equals).trim();
    const isQuoted = list[equals + 1] === '"';
    const start = equals + (isQuoted ? 2 : 1);
    const found = list.indexOf(isQuoted ? '"' : ',', start);
    if (isQuoted && found === -1) throw brokenRules('sent a playlist with a quote that does not end');
    const end = found === -1 ? list.length : found;
    if (attributes.size >= maxAttributes) throw brokenRules('sent a playlist with too many attributes');
    attributes.set(name, list.slice(start, end).trim());
    const comma = isQuoted ? list.indexOf(',', end) : end;
    at = comma === -1 ? list.length : comma + 1;
  }
  return attributes;
}
