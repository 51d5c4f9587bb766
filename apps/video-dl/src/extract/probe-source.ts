import { DomainError } from '@media-services/http-common';
import { probe } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { MediaRelay } from '../relay/index.js';
import type { ProbeSource } from './fill-in.js';
import { quickLook } from './quick-look.js';

export interface ProbeSourceOptions {
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
  readonly maxMs: number;
}

function tooSlow(cause: unknown): DomainError {
  const detail = "The beginning of the site's media did not arrive in time. Try again later.";
  return new DomainError('upstream_timeout', detail, { cause });
}

/**
 * A look into a medium's header through the relay, by ffprobe where a quick one does not tell.
 * What went wrong upstream is the reason, if something did: the reader sees its effect only.
 */
export function createProbeSource({ relay, tools, maxMs }: ProbeSourceOptions): ProbeSource {
  return async (source, signal) => {
    const deadline = AbortSignal.timeout(maxMs);
    // No renewal: the addresses are new, and what would renew them is what looks here.
    const session = relay.open({ signal: AbortSignal.any([signal, deadline]) });
    const endsAt = performance.now() + maxMs;
    try {
      const address = session.add(source);
      const seen = source.kind === 'file' ? await quickLook(address, deadline) : undefined;
      if (seen !== undefined) return seen;
      if (session.failure !== undefined) throw session.failure;
      const restMs = Math.max(1, Math.ceil(endsAt - performance.now()));
      return await probe(tools, address, { signal, maxMs: restMs, kind: source.kind });
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw tooSlow(error);
      throw session.failure ?? error;
    } finally {
      session.close();
    }
  };
}
