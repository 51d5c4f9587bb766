import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContextOverrides } from '../../dist/service.js';
import { startService, type TestService } from '../support/service.js';
import { issueCertificates } from './certificates.js';
import { SiteProxy, type SiteRequest } from './proxy.js';
import { Instagram } from './sites/instagram.js';
import { Reddit } from './sites/reddit.js';
import { SoundCloud } from './sites/soundcloud.js';
import { TikTok } from './sites/tiktok.js';
import { Twitch } from './sites/twitch.js';
import { Vimeo } from './sites/vimeo.js';
import { X } from './sites/x.js';
import { YouTubeMediaServers } from './youtube/media-servers.js';
import { YouTube } from './youtube/site.js';
import { Tickets } from './youtube/tickets.js';

interface DoubleOptions {
  /** About how large YouTube's player script is; the site's own has 2.6 MB. */
  readonly playerBytes?: number;
}

/**
 * The sites that people use, as far as yt-dlp's own extractors look at them: behind an
 * outbound proxy of this process, with certificates of its own. All of it is written here;
 * pages, scripts and answers hold the least that the extractors accept.
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

  /** A service for which the double is the internet. */
  async startService(
    env: Readonly<Record<string, string>> = {},
    overrides: ContextOverrides & { readonly cold?: boolean } = {},
  ): Promise<TestService> {
    return startService(
      { OUTBOUND_PROXY: this.#proxy.url, TRUSTED_ROOTS_FILE: this.#authorityFile, ...env },
      { lookup: leftToTheProxy, ...overrides },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
    if (this.#proxy.mistakes.length > 0)
      throw new AggregateError(this.#proxy.mistakes, 'a site made a mistake');
  }
}

/** No name exists here, as on a network whose proxy alone knows the outside. */
function leftToTheProxy(): Promise<never> {
  return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
}
