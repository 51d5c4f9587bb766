import { SingleFlight } from '../../single-flight.js';
import { fetchSmall } from '../../upstream/fetch-small.js';
import type { LiveSource } from '../../upstream/live-source.js';
import { RemoteObject, type ObjectAddress } from '../../upstream/remote-object.js';
import { sourceAddress } from '../../upstream/source-address.js';
import type { TransferContext } from '../../upstream/transfer-context.js';
import { brokenPromise } from '../../upstream/transfer-fault.js';
import { parsePlaylist, type ParsedPlaylist } from './parse-playlist.js';

/** One playlist of an HLS source; loaded when asked for, and again when the source was refreshed. */
export class HlsPlaylist {
  readonly #live: LiveSource;
  readonly #context: TransferContext;
  readonly #address: ObjectAddress;
  /** Segments delivered to their end. */
  readonly delivered = new Set<number>();
  #parsed: ParsedPlaylist | null = null;
  #generation = -1;
  readonly #loading = new SingleFlight<ParsedPlaylist>();

  /** @param parent the master playlist and this one's place in it; null for the playlist the source names */
  constructor(
    live: LiveSource,
    context: TransferContext,
    parent: { playlist: HlsPlaylist; entry: number } | null,
  ) {
    this.#live = live;
    this.#context = context;
    this.#address = parent ? parent.playlist.addressOf(parent.entry) : sourceAddress(live, ({ url }) => url);
  }

  /** As it was last loaded. */
  get parsed(): ParsedPlaylist | null {
    return this.#parsed;
  }

  /** @throws TransferFault also when a refreshed playlist is of another medium */
  async load(signal: AbortSignal): Promise<ParsedPlaylist> {
    if (this.#parsed && this.#generation === this.#live.generation) return this.#parsed;
    return this.#loading.run('', signal, async (shared) => this.#fetch(shared));
  }

  /** Address of an entry, which follows the playlist through refreshes. */
  addressOf(entry: number): ObjectAddress {
    let seen = this.#live.generation;
    return {
      locate: async (signal) => {
        const { entries } = await this.load(signal);
        seen = this.#generation;
        const url = entries[entry]?.url;
        if (url === undefined) throw brokenPromise('changed the playlist');
        return this.#live.locator(url);
      },
      refresh: (signal) => this.#live.refresh(seen, signal),
    };
  }

  async #fetch(signal: AbortSignal): Promise<ParsedPlaylist> {
    const { maxManifestBytes: maxBytes, maxSegments } = this.#context.limits;
    const object = new RemoteObject(this.#address);
    const { bytes, url } = await fetchSmall(object, { maxBytes, context: this.#context, signal });
    const parsed = parsePlaylist(bytes.toString(), url, maxSegments);
    if (this.#parsed && !isSameMedium(this.#parsed, parsed)) throw brokenPromise('changed the playlist');
    this.#generation = this.#live.generation;
    this.#parsed = parsed;
    return parsed;
  }
}

/** Addresses may differ after a refresh; everything else that describes the medium may not. */
function isSameMedium(before: ParsedPlaylist, after: ParsedPlaylist): boolean {
  return shape(before) === shape(after);
}

function shape({ kind, entries, durations }: ParsedPlaylist): string {
  return JSON.stringify([
    kind,
    durations,
    entries.map(({ role, window, extension }) => [role, window, extension]),
  ]);
}
