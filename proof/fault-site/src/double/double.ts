import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificates } from './certificates.js';
import { SiteProxy, type SiteRequest } from './proxy.js';
import { Broadcaster } from './sites/broadcaster.js';
import { Instagram } from './sites/instagram.js';
import { Reddit } from './sites/reddit.js';
import { Shares } from './sites/shares.js';
import { SoundCloud } from './sites/soundcloud.js';
import { Ted } from './sites/ted.js';
import { TikTok } from './sites/tiktok.js';
import { Twitch } from './sites/twitch.js';
import { Vimeo } from './sites/vimeo.js';
import { X } from './sites/x.js';
import { YouTubeMediaServers } from './youtube/media-servers.js';
import { YouTube } from './youtube/site.js';
import { Tickets } from './youtube/tickets.js';

export { mediaSeconds, tones } from './media.js';
export { videoId, type VideoName } from './youtube/videos.js';

interface DoubleOptions {
  /** About how large YouTube's player script is; the site's own has 2.6 MB. */
  readonly playerBytes?: number;
}

/**
 * Popular sites, as far as yt-dlp's own extractors read them. They are behind an outbound proxy
 * in this process that issues its own certificates. Pages, scripts and responses contain the
 * least that the extractors accept.
 */
export class Double implements AsyncDisposable {
  readonly #proxy: SiteProxy;
  readonly #folder: string;
  readonly #authorityFile: string;

  private constructor(proxy: SiteProxy, folder: string, authorityFile: string) {
    this.#proxy = proxy;
    this.#folder = folder;
    this.#authorityFile = authorityFile;
  }

  static async start({ playerBytes }: DoubleOptions = {}): Promise<Double> {
    const tickets = new Tickets();
    const sites = [
      new YouTube(tickets, playerBytes),
      new YouTubeMediaServers(tickets),
      ...[new TikTok(), new X(), new Vimeo(), new Reddit(), new Instagram(), new SoundCloud(), new Twitch()],
      ...[new Ted(), new Broadcaster(), new Shares()],
    ];
    const certificates = await issueCertificates(sites.flatMap(({ hosts }) => hosts));
    const folder = await mkdtemp(join(tmpdir(), 'video-dl-double-'));
    const authorityFile = join(folder, 'authority.pem');
    await writeFile(authorityFile, certificates.authority);
    return new Double(await SiteProxy.start(sites, certificates), folder, authorityFile);
  }

  /** Every request to one of the sites, in order. */
  get requests(): SiteRequest[] {
    return this.#proxy.requests;
  }

  /** Settings of a service for which the double is the internet. */
  get settings(): Readonly<Record<string, string>> {
    return { OUTBOUND_PROXY: this.#proxy.url, TRUSTED_ROOTS_FILE: this.#authorityFile };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
    if (this.#proxy.mistakes.length > 0)
      throw new AggregateError(this.#proxy.mistakes, 'a site made a mistake');
  }
}

/** A name lookup on a network where only the proxy knows the outside. */
export function lookupBehindProxy(): Promise<never> {
  return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
}
