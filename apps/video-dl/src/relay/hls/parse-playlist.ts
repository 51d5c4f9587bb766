import { DomainError } from '@media-services/http-common';
import { brokenPromise, TransferFault } from '../../upstream/transfer-fault.js';
import { filterAttributes, readAttributes } from './attribute-list.js';
import { mediaExtension, resolveAddress, type PlaylistEntry } from './playlist-entry.js';

export interface ParsedPlaylist {
  readonly kind: 'master' | 'media';
  readonly entries: readonly PlaylistEntry[];
  /** Seconds, of each segment in order. */
  readonly durations: readonly number[];
  /** The playlist with the addresses that `nameOf` gives its entries. */
  render(nameOf: (index: number) => string): string;
}

type Line = string | { readonly before: string; readonly entry: number; readonly after: string };

/** Tags that pass as they are. All others go: none may carry an address past the relay. */
const plainTags =
  /^#(?:EXTM3U|EXT-X-(?:VERSION|TARGETDURATION|MEDIA-SEQUENCE|DISCONTINUITY-SEQUENCE|INDEPENDENT-SEGMENTS|DISCONTINUITY|PROGRAM-DATE-TIME|BITRATE|START))(?::|$)/;

/**
 * Reads a playlist of a finished medium (RFC 8216).
 * @param baseUrl where it came from, after redirects
 * @throws TransferFault `live_not_supported` | `drm_protected` | `upstream_error`
 */
export function parsePlaylist(text: string, baseUrl: string, maxEntries: number): ParsedPlaylist {
  const parser = new PlaylistParser(baseUrl, maxEntries);
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  if (!lines[0]?.startsWith('#EXTM3U'))
    throw brokenPromise('sent something else than the HLS playlist it named');
  for (const line of lines) parser.take(line.trim());
  return parser.finish();
}

class PlaylistParser {
  readonly #baseUrl: string;
  readonly #maxEntries: number;
  readonly #lines: Line[] = [];
  readonly #entries: PlaylistEntry[] = [];
  readonly #durations: number[] = [];
  /** Where the last byte range of an address ended. */
  readonly #rangeEnds = new Map<string, number>();
  #next: 'segment' | 'playlist' = 'segment';
  #range: string | null = null;
  #hasMap = false;
  #isMaster = false;
  #isFinished = false;

  constructor(baseUrl: string, maxEntries: number) {
    this.#baseUrl = baseUrl;
    this.#maxEntries = maxEntries;
  }

  take(line: string): void {
    if (line === '') return;
    if (!line.startsWith('#')) {
      this.#address(line);
      return;
    }
    const [, tag = line, value = ''] = /^#([A-Z0-9-]+)(?::(.*))?$/.exec(line) ?? [];
    switch (tag) {
      case 'EXTINF':
        this.#durations.push(Number.parseFloat(value) || 0);
        this.#lines.push(line);
        break;
      case 'EXT-X-BYTERANGE':
        this.#range = value;
        break;
      case 'EXT-X-STREAM-INF':
        this.#isMaster = true;
        this.#next = 'playlist';
        this.#lines.push(line);
        break;
      case 'EXT-X-MEDIA':
        this.#isMaster = true;
        this.#rendition(value);
        break;
      case 'EXT-X-MAP':
        this.#map(value);
        break;
      case 'EXT-X-KEY':
        this.#key(value);
        break;
      case 'EXT-X-PLAYLIST-TYPE':
        if (value === 'VOD') this.#isFinished = true;
        break;
      case 'EXT-X-ENDLIST':
        this.#isFinished = true;
        break;
      default:
        if (plainTags.test(line)) this.#lines.push(line);
    }
  }

  finish(): ParsedPlaylist {
    if (!this.#isMaster) {
      if (!this.#isFinished) {
        const detail =
          'This is a live broadcast. Only finished videos can be read; try again when it has ended.';
        throw new TransferFault(new DomainError('live_not_supported', detail), 'none');
      }
      this.#lines.push('#EXT-X-PLAYLIST-TYPE:VOD', '#EXT-X-ENDLIST');
    }
    if (this.#entries.length === 0) throw brokenPromise('sent an empty playlist');
    const lines = this.#lines;
    return {
      kind: this.#isMaster ? 'master' : 'media',
      entries: this.#entries,
      durations: this.#durations,
      render: (nameOf) =>
        lines
          .map((line) =>
            typeof line === 'string' ? line : `${line.before}${nameOf(line.entry)}${line.after}`,
          )
          .join('\n')
          .concat('\n'),
    };
  }

  #address(uri: string): void {
    const url = resolveAddress(uri, this.#baseUrl);
    const window = this.#range === null ? null : this.#window(this.#range, url);
    const extension = this.#next === 'playlist' ? 'm3u8' : mediaExtension(url, this.#hasMap ? 'm4s' : 'ts');
    const entry = this.#add({ role: this.#next, url, window, extension });
    this.#lines.push({ before: '', entry, after: '' });
    this.#range = null;
    this.#next = 'segment';
  }

  #rendition(list: string): void {
    const attributes = readAttributes(list);
    if (!['AUDIO', 'VIDEO'].includes(attributes.get('TYPE') ?? '')) return;
    const uri = attributes.get('URI');
    if (uri === undefined) this.#lines.push(`#EXT-X-MEDIA:${list}`);
    else
      this.#tagWithUri('EXT-X-MEDIA', list, {
        role: 'playlist',
        url: resolveAddress(uri, this.#baseUrl),
        window: null,
        extension: 'm3u8',
      });
  }

  #map(list: string): void {
    const attributes = readAttributes(list);
    const url = resolveAddress(attributes.get('URI') ?? '', this.#baseUrl);
    const range = attributes.get('BYTERANGE');
    const window = range === undefined ? null : this.#window(range, url);
    this.#hasMap = true;
    this.#tagWithUri('EXT-X-MAP', list, { role: 'map', url, window, extension: mediaExtension(url, 'mp4') });
  }

  #key(list: string): void {
    const attributes = readAttributes(list);
    const method = attributes.get('METHOD');
    const format = attributes.get('KEYFORMAT') ?? 'identity';
    const uri = attributes.get('URI') ?? '';
    if (method === 'NONE') {
      this.#lines.push('#EXT-X-KEY:METHOD=NONE');
      return;
    }
    if (!['AES-128', 'SAMPLE-AES'].includes(method ?? '') || format !== 'identity' || /^skd:/i.test(uri)) {
      const detail = 'The video is protected by DRM and cannot be read.';
      throw new TransferFault(new DomainError('drm_protected', detail), 'none');
    }
    if (/^data:[\w/+.;,=-]+$/i.test(uri)) this.#lines.push(`#EXT-X-KEY:${withoutAddress(list)}URI="${uri}"`);
    else
      this.#tagWithUri('EXT-X-KEY', list, {
        role: 'key',
        url: resolveAddress(uri, this.#baseUrl),
        window: null,
        extension: 'key',
      });
  }

  #tagWithUri(tag: string, list: string, entry: PlaylistEntry): void {
    const index = this.#add(entry);
    this.#lines.push({ before: `#${tag}:${withoutAddress(list)}URI="`, entry: index, after: '"' });
  }

  #add(entry: PlaylistEntry): number {
    if (this.#entries.length >= this.#maxEntries)
      throw brokenPromise('sent a playlist with too many entries');
    return this.#entries.push(entry) - 1;
  }

  /** `<length>[@<offset>]`; without offset it goes on where the last range of the same object ended. */
  #window(range: string, url: string): { start: number; end: number } {
    const match = /^(\d{1,15})(?:@(\d{1,15}))?$/.exec(range);
    const length = Number(match?.[1]);
    const start = match?.[2] === undefined ? (this.#rangeEnds.get(url) ?? 0) : Number(match[2]);
    if (!match || length === 0) throw brokenPromise('sent a playlist with an invalid byte range');
    this.#rangeEnds.set(url, start + length);
    return { start, end: start + length - 1 };
  }
}

/** The other attributes, ready for one more. */
function withoutAddress(list: string): string {
  const others = filterAttributes(list, (name) => name !== 'URI' && name !== 'BYTERANGE');
  return others === '' ? '' : `${others},`;
}
