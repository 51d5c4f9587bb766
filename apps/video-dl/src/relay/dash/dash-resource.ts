import { fetchSmall } from '../../upstream/fetch-small.js';
import type { LiveSource } from '../../upstream/live-source.js';
import { RemoteObject } from '../../upstream/remote-object.js';
import type { Resource, ResourceRequest } from '../resource.js';
import { serveObject } from '../serve-object.js';
import { sourceAddress } from '../../upstream/source-address.js';
import type { TransferContext } from '../../upstream/transfer-context.js';
import { brokenPromise } from '../../upstream/transfer-fault.js';
import { rewriteManifest } from './rewrite-manifest.js';

/**
 * A DASH source by its manifest. `o/<n>/<path>` is the path on the n-th server
 * that the manifest names: what is relative in it stays as it is.
 */
export class DashResource implements Resource {
  readonly entryPath = 'manifest.mpd';
  readonly #live: LiveSource;
  readonly #context: TransferContext;
  /** Absolute address of this source on the relay, with a trailing slash. */
  readonly #relayUrl: string;
  readonly #origins: string[] = [];
  readonly #objects = new Map<string, RemoteObject>();
  #delivered = 0;

  constructor(live: LiveSource, context: TransferContext, relayUrl: string) {
    this.#live = live;
    this.#context = context;
    this.#relayUrl = relayUrl;
  }

  async serve(request: ResourceRequest): Promise<void> {
    if (request.path === this.entryPath) return this.#serveManifest(request);
    const [, number = '', path = ''] = /^o\/(\d{1,4})(\/.*)$/.exec(request.path) ?? [];
    const origin = this.#origins[Number(number || -1)];
    // ffmpeg leaves out a segment that it cannot get; a medium with a hole is no medium.
    if (origin === undefined) throw brokenPromise('sent a manifest with an address that leads nowhere');
    const isWhole = await serveObject(
      this.#objectAt(`${origin}${path}${request.search}`),
      request,
      this.#context,
    );
    if (isWhole) this.#delivered += 1;
  }

  /** The manifest's segments are counted by ffmpeg alone; a failed one is a failure of the session. */
  isComplete(): boolean {
    return this.#delivered > 0;
  }

  async #serveManifest({ response, signal, method }: ResourceRequest): Promise<void> {
    const object = new RemoteObject(sourceAddress(this.#live, ({ url }) => url));
    const { maxManifestBytes: maxBytes } = this.#context.limits;
    const { bytes, url } = await fetchSmall(object, { maxBytes, context: this.#context, signal });
    const body = Buffer.from(rewriteManifest(bytes.toString(), url, (address) => this.#relayed(address)));
    response.writeHead(200, { 'content-type': 'application/dash+xml', 'content-length': body.length });
    response.end(method === 'HEAD' ? undefined : body);
  }

  #relayed({ origin, pathname, search }: URL): string {
    let number = this.#origins.indexOf(origin);
    if (number === -1) number = this.#origins.push(origin) - 1;
    return `${this.#relayUrl}o/${number}${pathname}${search}`;
  }

  #objectAt(url: string): RemoteObject {
    const existing = this.#objects.get(url);
    if (existing) return existing;
    if (this.#objects.size >= this.#context.limits.maxSegments)
      throw brokenPromise('names too many segments');
    const object = new RemoteObject({
      locate: () => Promise.resolve(this.#live.locator(url)),
      // New addresses come with a new manifest, which ffmpeg does not read twice.
      refresh: () => Promise.resolve(false),
    });
    this.#objects.set(url, object);
    return object;
  }
}
