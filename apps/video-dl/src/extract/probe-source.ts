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

/**
 * A look into a medium's header through the relay, by ffprobe where a quick one does not tell.
 * What went wrong upstream is the reason, if something did: the reader sees its effect only.
 */
export function createProbeSource({ relay, tools, maxMs }: ProbeSourceOptions): ProbeSource {
  return async (source, signal) => {
    const session = relay.open({ signal });
    try {
      const address = session.add(source);
      const seen = source.kind === 'file' ? await quickLook(address, signal) : undefined;
      if (seen !== undefined) return seen;
      if (session.failure !== undefined) throw session.failure;
      return await probe(tools, address, { signal, maxMs, kind: source.kind });
    } catch (error) {
      signal.throwIfAborted();
      throw session.failure ?? error;
    } finally {
      session.close();
    }
  };
}
