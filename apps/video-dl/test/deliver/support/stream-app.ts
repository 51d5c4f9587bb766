import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuard } from '@media-services/egress-guard';
import {
  createHttpApp,
  createLogger,
  createMetrics,
  methods,
  type Metrics,
  type DomainError,
} from '@media-services/http-common';
import { errorTable } from '../../../src/errors.js';
import type { Extraction, Format } from '../../../src/extract/types.js';
import type { Target } from '../../../src/targets.js';
import type { MediaTools } from '../../../src/ffmpeg/tools.js';
import { audioStreamHandler, videoStreamHandler } from '../../../src/api/stream.js';
import type { MediaRelay } from '../../../src/relay/media-relay.js';
import { StreamingService } from '../../../src/deliver/service.js';
import type { StreamLimits } from '../../../src/capacity.js';
import { Upstream } from '../../../src/upstream/upstream.js';
import type { ParserPool, Parse } from '../../../src/parser-process/parser-pool.js';
import { SourceHeads } from '../../../src/look/source-heads.js';
import { startParsers } from '../../support/service.js';
import type { MediaSource } from '../../../src/upstream/media-source.js';
import type { RelayInput, RelaySession } from '../../../src/relay/session.js';

const pageUrl = 'http://page.example/video';

const limits: StreamLimits = {
  maxConcurrent: 2,
  maxQueued: 1,
  firstByteTimeoutMs: 120_000,
  upstreamIdleTimeoutMs: 120_000,
  clientIdleTimeoutMs: 120_000,
  minClientBytesPerMinute: 0,
  minSourceBytesPerMinute: 0,
  totalTimeoutMs: 240_000,
  maxOutputBytes: 100_000_000,
};

/** A format at a URL. Not called MP4, so that ffmpeg generates the stream by default. */
export function format(url: string, fields: Partial<Format> = {}): Format {
  const kind = new URL(url).pathname.endsWith('.m3u8') ? 'hls' : 'file';
  return {
    id: '1',
    ext: 'mkv',
    protocol: 'http',
    width: 320,
    height: 180,
    fps: 25,
    videoCodec: 'h264',
    audioCodec: 'aac',
    hasVideo: true,
    hasAudio: true,
    videoBitrateKbps: null,
    audioBitrateKbps: null,
    totalBitrateKbps: null,
    filesizeBytes: null,
    filesizeIsEstimate: false,
    note: null,
    source: { url, headers: {}, kind },
    ...fields,
  };
}

/** An extraction in which every target uses the given formats. */
export function extraction(formats: Format[], fields: Partial<Extraction> = {}): Extraction {
  const mp3 = formats.filter(({ hasAudio }) => hasAudio).slice(-1);
  return {
    id: 'x',
    title: 'Ein Täst',
    thumbnail: null,
    covers: [],
    durationSeconds: null,
    durationSource: null,
    mediaStateWrongLength: false,
    uploader: 'Someone',
    uploadDate: null,
    description: null,
    webpageUrl: pageUrl,
    extractor: 'test',
    playlistIndex: null,
    playlistCount: null,
    items: [],
    section: null,
    suggestedStartSeconds: null,
    extractedAt: Date.now(),
    expiresAt: Date.now() + 60_000,
    formats,
    selections: { mp3, 'mp4-720': formats, 'mp4-1080': formats, original: mp3 },
    audioLanguages: [],
    chapters: [],
    subtitles: [],
    ...fields,
  };
}

let parsers: ParserPool | undefined;
/** All apps of a test file share them: a process takes 0.2 s of CPU to start. */
const sharedParsers = () => (parsers ??= startParsers());

/** For `afterAll` of each file that starts apps. */
export async function stopSharedParsers(): Promise<void> {
  await parsers?.[Symbol.asyncDispose]();
  parsers = undefined;
}

/** The streaming part of the service on a real port, with extraction and relay replaced. */
export class StreamApp implements AsyncDisposable {
  readonly #parsers = sharedParsers();
  readonly relay = new RelayStandIn(this.#parsers.forClient(''));
  readonly streaming: StreamingService;
  readonly metrics: Metrics = createMetrics({ service: 'test' });
  extract: (signal: AbortSignal) => Promise<Extraction>;
  cover: (signal: AbortSignal) => Promise<{ bytes: Buffer }> = () => Promise.reject(new Error('no cover'));
  readonly #server: Server;

  /** @param relay replaces the one that fails on command */
  constructor(tools: MediaTools, found: Extraction, changed: Partial<StreamLimits> = {}, relay?: MediaRelay) {
    this.extract = () => Promise.resolve(found);
    const logger = createLogger({ service: 'test', level: 'silent' });
    const upstream = new Upstream({
      guard: createGuard({ allowedPrivateSources: ['127.0.0.1/32'] }),
      logger,
    });
    upstream.fetchBytes = async (_target, { signal }) => ({
      ...(await this.cover(signal)),
      contentType: undefined,
      url: '',
    });
    this.streaming = new StreamingService({
      extraction: {
        extract: (_url, { signal }) => this.extract(signal),
        renew: (_url, source) => Promise.resolve(source),
      },
      relay: relay ?? this.relay,
      upstream,
      heads: new SourceHeads(upstream, this.#parsers),
      parsers: this.#parsers,
      tools,
      planSettings: { maxDurationSeconds: 3600, maxOutputBytes: 100_000_000, mp4Video: 'copy' },
      limits: { ...limits, ...changed },
      metrics: this.metrics,
      logger,
    });
    const app = createHttpApp({
      logger,
      metrics: this.metrics,
      trustProxyHops: 0,
      errors: errorTable,
      docsBaseUrl: '',
      routes: (router) => {
        methods(router, '/api/stream', { get: audioStreamHandler(this) });
        methods(router, '/api/stream/video', { get: videoStreamHandler(this) });
      },
    });
    this.#server = createServer(app);
  }

  async start(): Promise<this> {
    await this.#parsers.start();
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  url(target: Target): string {
    const { port } = this.#server.address() as AddressInfo;
    const query = `url=${encodeURIComponent(pageUrl)}`;
    const base = `http://127.0.0.1:${port}`;
    return target === 'mp3'
      ? `${base}/api/stream?${query}`
      : `${base}/api/stream/video?${query}&fmt=${target}`;
  }

  async metric(name: string): Promise<number> {
    const text = await this.metrics.registry.metrics();
    return text
      .split('\n')
      .filter((line) => line.startsWith(name) && !line.startsWith('#'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.streaming[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A relay that lets ffmpeg read the sources directly, and fails on command. */
class RelayStandIn implements Pick<MediaRelay, 'open'> {
  readonly sessions: SessionStandIn[] = [];
  allReceived = true;
  bytesReceived = 0;
  readonly parse: Parse;

  constructor(parse: Parse) {
    this.parse = parse;
  }

  open(): SessionStandIn {
    const session = new SessionStandIn(this);
    this.sessions.push(session);
    return session;
  }
}

class SessionStandIn implements RelaySession {
  readonly failed: Promise<DomainError>;
  failure: DomainError | undefined;
  readonly environment = {};
  closed = false;
  readonly #relay: RelayStandIn;
  #resolve: (failure: DomainError) => void = () => undefined;

  constructor(relay: RelayStandIn) {
    this.#relay = relay;
    this.failed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get parse(): Parse {
    return this.#relay.parse;
  }

  get bytesReceived(): number {
    return this.#relay.bytesReceived;
  }

  add({ url }: MediaSource): Promise<readonly RelayInput[]> {
    return Promise.resolve([{ url, isJoined: false, lengths: null, isWhole: false, changes: {} }]);
  }

  addOpened(): RelayInput {
    throw new Error('nothing is opened before the relay');
  }

  fail(error: DomainError): void {
    this.failure = error;
    this.#resolve(error);
  }

  allReceived(): boolean {
    return this.#relay.allReceived;
  }

  close(): void {
    this.closed = true;
  }
}
