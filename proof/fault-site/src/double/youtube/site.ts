import type { Exchange, Site } from '../exchange.js';
import { mediaSeconds } from '../media.js';
import { streamingFormats } from './formats.js';
import { captionsOf, timedText } from './captions.js';
import { playerScript, signatureTimestamp, unreadableScript } from './player-script.js';
import type { Ticket, Tickets } from './tickets.js';
import { videoOf } from './videos.js';

const script = (player: string) => `/s/player/${player}/player_ias.vflset/en_US/base.js`;
const players = { usual: 'd0b1e001', unreadable: 'd0b1e002' };

/** Clients without a player, which get a playlist without puzzles, and those that get only SABR; the others get URLs. */
const playlistClients = new Set(['VISIONOS', 'IOS']);
const sabrClients = new Set(['WEB', 'MWEB', 'WEB_REMIX', 'WEB_CREATOR']);

/** www.youtube.com: watch page, player script and the clients' API. */
export class YouTube implements Site {
  readonly hosts = ['www.youtube.com', 'm.youtube.com', 'music.youtube.com'];
  readonly #tickets: Tickets;
  readonly #scriptBytes: number;
  #script: string | undefined;

  /** @param scriptBytes size of the player's script; the site's own has 2.6 MB */
  constructor(tickets: Tickets, scriptBytes = 0) {
    this.#tickets = tickets;
    this.#scriptBytes = scriptBytes;
  }

  async answer(exchange: Exchange): Promise<void> {
    const { pathname, searchParams } = exchange.url;
    if (pathname === '/watch') return this.#watch(exchange, searchParams.get('v') ?? '');
    if (pathname.startsWith('/embed/')) return exchange.html(settings(players.usual));
    if (pathname === '/youtubei/v1/player') return this.#player(exchange);
    if (pathname === '/api/timedtext') return timedText(exchange);
    if (pathname === '/youtubei/v1/next') return exchange.json({ contents: {} });
    if (pathname === script(players.usual)) return exchange.send('text/javascript', this.#playerScript());
    if (pathname === script(players.unreadable)) return exchange.send('text/javascript', unreadableScript);
    await exchange.refuse(404);
  }

  #playerScript(): string {
    this.#script ??= playerScript(this.#scriptBytes);
    return this.#script;
  }

  async #watch(exchange: Exchange, id: string): Promise<void> {
    const video = videoOf(id);
    if (video?.fault === 'rate limit') return exchange.refuse(429);
    if (video?.fault === 'forbidden') return exchange.refuse(403);
    const player = video?.fault === 'unreadable player' ? players.unreadable : players.usual;
    const response = await this.#response(id, 'WEB');
    await exchange.html(
      `${settings(player)}
      <script>var ytInitialData = ${JSON.stringify({ contents: { twoColumnWatchNextResults: {} } })};</script>
      <script>var ytInitialPlayerResponse = ${JSON.stringify(response)};</script>`,
      { headers: { 'set-cookie': 'VISITOR_INFO1_LIVE=double; Domain=.youtube.com; Path=/; Secure' } },
    );
  }

  async #player(exchange: Exchange): Promise<void> {
    const asked = JSON.parse(await exchange.text()) as {
      videoId: string;
      context: { client: { clientName: string } };
    };
    const fault = videoOf(asked.videoId)?.fault;
    if (fault === 'rate limit') return exchange.refuse(429);
    if (fault === 'forbidden') return exchange.refuse(403);
    if (fault === 'precondition') {
      return exchange.json({ error: { code: 400, message: 'Precondition check failed.' } }, { status: 400 });
    }
    await exchange.json(await this.#response(asked.videoId, asked.context.client.clientName));
  }

  async #response(id: string, client: string): Promise<unknown> {
    const video = videoOf(id);
    if (video === undefined) return { playabilityStatus: { status: 'ERROR', reason: 'Video unavailable' } };
    const ticket = this.#tickets.issue(id, video);
    return {
      playabilityStatus: video.playability,
      videoDetails: {
        videoId: video.fault === 'another video' ? 'aQvGIIdgFDM' : id,
        title: `Video ${id}`,
        lengthSeconds: String(mediaSeconds),
        channelId: 'UC0000000000000000000000',
        author: 'A channel',
        shortDescription: video.description ?? 'Made for a test.',
        isLiveContent: video.isLive,
        ...(video.isLive && { isLive: true }),
        ...(video.isUpcoming && { isUpcoming: true }),
      },
      ...(video.hasCaptions === true && { captions: captionsOf(id) }),
      ...(video.adSeconds > 0 && { adPlacements: [advertisement(video.adSeconds)] }),
      ...(video.playability.status === 'OK' && { streamingData: await streamingData(ticket, client) }),
    };
  }
}

/** The settings that a page passes to its player. */
function settings(player: string): string {
  const values = {
    INNERTUBE_CLIENT_NAME: 'WEB',
    INNERTUBE_CLIENT_VERSION: '2.20260701.00.00',
    INNERTUBE_CONTEXT: { client: { clientName: 'WEB', clientVersion: '2.20260701.00.00', hl: 'en' } },
    VISITOR_DATA: 'double',
    PLAYER_JS_URL: script(player),
    STS: signatureTimestamp,
  };
  return `<script>ytcfg.set(${JSON.stringify(values)});</script>`;
}

async function streamingData(ticket: Ticket, client: string): Promise<unknown> {
  const { video } = ticket;
  if (sabrClients.has(client))
    return { expiresInSeconds: '21540', ...(await streamingFormats(ticket, 'sabr')) };
  if (!playlistClients.has(client)) {
    return { expiresInSeconds: '21540', ...(await streamingFormats(ticket, 'addresses')) };
  }
  return {
    expiresInSeconds: '21540',
    ...(await streamingFormats(ticket, 'sabr')),
    ...(video.hlsHeights.length > 0 && { hlsManifestUrl: manifestUrl(ticket) }),
  };
}

function manifestUrl({ name, id, expire }: Ticket): string {
  return `https://manifest.googlevideo.com/api/manifest/hls_variant/expire/${expire}/ei/${name}/id/${id}/file/index.m3u8`;
}

/** Shown before the video; its media are withheld that long. */
function advertisement(seconds: number): unknown {
  return {
    adPlacementRenderer: {
      config: { adPlacementConfig: { kind: 'AD_PLACEMENT_KIND_START' } },
      renderer: { instreamVideoAdRenderer: { playerVars: `length_seconds=${seconds}` } },
    },
  };
}
