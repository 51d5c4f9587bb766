import { ProbeError, probe } from '../media/probe.js';
import type { MediaTools } from '../media/tools.js';
import type { MediaRelay } from '../relay/index.js';
import type { ProbeSource } from './fill-in.js';

export interface ProbeSourceOptions {
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly tools: MediaTools;
  readonly maxMs: number;
}

/**
 * A look into a medium's header by ffprobe, which reads through the relay.
 * What went wrong upstream is the reason, if something did: ffprobe sees its effect only.
 */
export function createProbeSource({ relay, tools, maxMs }: ProbeSourceOptions): ProbeSource {
  return async (source, signal) => {
    const session = relay.open({ signal });
    try {
      const address = session.add(source);
      return await probe(tools, address, { signal, maxMs, kind: source.kind });
    } catch (error) {
      throw error instanceof ProbeError ? (session.failure ?? error) : error;
    } finally {
      session.close();
    }
  };
}
