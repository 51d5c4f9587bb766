import { createGuard, EgressProxy, type LookupFn } from '@media-services/egress-guard';
import type { Logger, Metrics } from '@media-services/http-common';
import type { Config } from './config.js';
import { SourceHeads } from './look/source-heads.js';
import { ParserPool } from './parser-process/parser-pool.js';
import { MediaRelay } from './relay/media-relay.js';
import { createTrustedRoots } from './trusted-roots.js';
import { defaultLimits } from './upstream/media-source.js';
import { Upstream } from './upstream/upstream.js';

interface NetworkOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Name resolution of the guard; the system's by default. */
  readonly lookup?: LookupFn | undefined;
}

/** Everything that connects to the internet or parses data from it. */
export async function createNetwork(config: Config, { logger, metrics, lookup }: NetworkOptions) {
  const rootsFile = config.TRUSTED_ROOTS_FILE;
  const trustedRoots = rootsFile === '' ? undefined : await createTrustedRoots(rootsFile);
  const guard = createGuard({
    allowedPrivateSources: config.ALLOWED_PRIVATE_SOURCES,
    blockedSources: config.BLOCKED_SOURCES,
    outboundProxy: config.OUTBOUND_PROXY,
    lookup,
    trustedRoots: trustedRoots?.certificates,
  });
  const egress = await EgressProxy.start({ guard, logger });
  // One segment per second of the longest video, each with a long signed URL.
  const maxSegments = Math.max(defaultLimits.maxSegments, Math.ceil(config.VIDEO_MAX_SECONDS));
  const limits = {
    firstByteTimeoutMs:
      Math.min(config.SOURCE_IDLE_TIMEOUT_SECONDS, config.FIRST_BYTE_TIMEOUT_SECONDS) * 1000,
    idleTimeoutMs: config.SOURCE_IDLE_TIMEOUT_SECONDS * 1000,
    // The input may be larger than the output, such as the audio of a film.
    maxBytes: Math.max(defaultLimits.maxBytes, 2 * config.STREAM_MAX_BYTES),
    maxSegments,
    maxManifestBytes: Math.max(defaultLimits.maxManifestBytes, maxSegments * 1024),
  };
  const parsers = new ParserPool({ logger, metrics });
  const relay = await MediaRelay.start({ guard, logger, parsers, limits });
  const upstream = new Upstream({ guard, logger, limits });
  return { trustedRoots, guard, egress, parsers, relay, upstream, heads: new SourceHeads(upstream, parsers) };
}
