import { SingleFlight } from '../single-flight.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import type { RenewableUrl } from '../upstream/remote-object.js';
import { brokenRules } from '../upstream/transfer-fault.js';

const maxUrlLength = 8192;

/** All or some of the bytes at a URL. */
export interface MediaPart {
  readonly url: string;
  /** First and last byte, both included; null is all. */
  readonly range: { readonly start: number; readonly end: number } | null;
}

/** How a part is encrypted: AES-128 in CBC mode, PKCS #7 padding. */
export interface PartKey {
  /** Where the 16 bytes of the key are, or they themselves. */
  readonly key: string | Buffer;
  readonly iv: Buffer;
}

export interface EncryptedPart extends MediaPart {
  readonly key: PartKey | null;
}

/** One piece of a medium that is sent in pieces. */
export interface Segment extends EncryptedPart {
  /** What has to be read before it, once; null for media that need none. */
  readonly initialisation: EncryptedPart | null;
  /** As the playlist states it; null where it does not. */
  readonly seconds: number | null;
  /** The playlist states whole seconds, to which packagers round. */
  readonly isRounded: boolean;
  readonly isDiscontinuity: boolean;
}

/** A medium as the row of its segments: all that is kept of a playlist or manifest. */
export type SegmentList = readonly Segment[];

/** A list of segments that is read again when its source was renewed. */
export class SegmentIndex {
  readonly #source: RenewableSource;
  readonly #read: (signal: AbortSignal) => Promise<SegmentList>;
  readonly #loading = new SingleFlight<SegmentList>();
  #list: SegmentList | null;
  #generation: number;

  /**
   * @param read gets the list from the source as it is now
   * @param initial what was read already
   */
  constructor(
    source: RenewableSource,
    read: (signal: AbortSignal) => Promise<SegmentList>,
    initial: SegmentList | null = null,
  ) {
    this.#source = source;
    this.#read = read;
    this.#list = initial;
    this.#generation = initial === null ? -1 : source.generation;
  }

  /** @throws TransferFault also when a renewed list is of another medium; `signal.reason` */
  async list(signal: AbortSignal): Promise<SegmentList> {
    if (this.#list !== null && this.#generation === this.#source.generation) return this.#list;
    return this.#loading.run('', signal, (shared) => this.#load(shared));
  }

  /** Where something that the list names is, through every renewal. */
  renewableUrl(urlOf: (list: SegmentList) => string | undefined): RenewableUrl {
    let seen = this.#source.generation;
    return {
      locate: async (signal) => {
        const list = await this.list(signal);
        seen = this.#generation;
        const url = urlOf(list);
        if (url === undefined) throw brokenRules('changed the list of segments');
        return this.#source.locator(url);
      },
      renew: (signal) => this.#source.renew(seen, signal),
    };
  }

  async #load(signal: AbortSignal): Promise<SegmentList> {
    const list = await this.#read(signal);
    if (this.#list !== null && !isSameMedium(this.#list, list))
      throw brokenRules('changed the list of segments');
    // The source may have been renewed on the way to the list.
    this.#generation = this.#source.generation;
    this.#list = list;
    return list;
  }
}

/** URLs may differ after a renewal; everything else that describes the medium may not. */
function isSameMedium(before: SegmentList, after: SegmentList): boolean {
  return (
    before.length === after.length && before.every((segment, index) => shape(segment) === shape(after[index]))
  );
}

function shape(segment: Segment | undefined): string {
  const { range, seconds, isDiscontinuity, initialisation, key } = segment ?? {};
  return JSON.stringify([range, seconds, isDiscontinuity, initialisation?.range, key?.iv.toString('hex')]);
}

/**
 * A URL that a playlist or manifest names, absolute and without user and password.
 * @throws TransferFault when it is none of the web
 */
export function resolveUrl(reference: string, baseUrl: string): string {
  const isPlain = reference !== '' && reference.length <= maxUrlLength && !/\p{Cc}/u.test(reference);
  const url = isPlain && URL.canParse(reference, baseUrl) ? new URL(reference, baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw brokenRules('names something that is no URL of the web');
  url.username = '';
  url.password = '';
  return url.href;
}
