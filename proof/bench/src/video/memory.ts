import { setTimeout as delay } from 'node:timers/promises';
import type { SampleSite } from '@media-services/fault-site';
import { streamUrl, type MeasuredStack } from '../measured-stack.js';
import { slowClient } from './slow-client.js';

interface Sample {
  readonly seconds: number;
  readonly bytes: number;
}

/** What slow clients cost. */
export interface HeldStreams {
  readonly clients: number;
  /** Clients whose stream ended although they were still reading. */
  readonly broken: number;
  /** Of the Node process, in bytes. */
  readonly mean: number;
  readonly growthPerMinute: number;
  /** Bytes per stream that the site has sent and the client has not read yet. */
  readonly aheadPerStream: number;
}

interface Holding {
  readonly stack: Pick<MeasuredStack, 'videoDlUrl' | 'videoDlMemory'>;
  readonly site: SampleSite;
  readonly page: string;
  readonly clients: number;
  readonly bytesPerSecond: number;
  readonly seconds: number;
}

/** Lets slow clients read for some time, and measures the memory meanwhile. */
export async function holdStreams(options: Holding): Promise<HeldStreams> {
  const { stack, site, page, clients, bytesPerSecond, seconds } = options;
  const sentBefore = site.sentBytes();
  const url = streamUrl(stack.videoDlUrl, page, 'mp4-1080');
  const readers = Array.from({ length: clients }, () => slowClient(url, bytesPerSecond));
  while (readers.some(({ received, hasEnded }) => received === 0 && !hasEnded)) await delay(100);
  const samples: Sample[] = [];
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    await delay(Math.min(1000, (seconds * 1000) / 10));
    samples.push({ seconds: (performance.now() - start) / 1000, bytes: await stack.videoDlMemory() });
  }
  const received = readers.reduce((sum, reader) => sum + reader.received, 0);
  const sent = site.sentBytes() - sentBefore;
  const broken = readers.filter(({ hasEnded }) => hasEnded).length;
  for (const reader of readers) reader.stop();
  await delay(1000);
  const settled = samples.slice(Math.floor(samples.length / 3));
  return {
    clients,
    broken,
    mean: meanOf(settled, 'bytes'),
    growthPerMinute: slope(settled) * 60,
    aheadPerStream: (sent - received) / clients,
  };
}

function meanOf(samples: readonly Sample[], key: keyof Sample): number {
  return samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;
}

/** Bytes per second, by least squares. */
function slope(samples: readonly Sample[]): number {
  const [seconds, bytes] = [meanOf(samples, 'seconds'), meanOf(samples, 'bytes')];
  const covariance = samples.reduce(
    (sum, sample) => sum + (sample.seconds - seconds) * (sample.bytes - bytes),
    0,
  );
  return covariance / samples.reduce((sum, sample) => sum + (sample.seconds - seconds) ** 2, 0);
}
