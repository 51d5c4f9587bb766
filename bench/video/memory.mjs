import { setTimeout as delay } from 'node:timers/promises';
import { slowClient } from './measure.mjs';

/** Least-squares slope of values over seconds. */
function slope(samples) {
  const mean = (key) => samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;
  const [seconds, bytes] = [mean('seconds'), mean('bytes')];
  const covariance = samples.reduce(
    (sum, sample) => sum + (sample.seconds - seconds) * (sample.bytes - bytes),
    0,
  );
  return covariance / samples.reduce((sum, sample) => sum + (sample.seconds - seconds) ** 2, 0);
}

/** Lets so many slow clients read for so long; memory once all flow, at the end, and how it moves. */
export async function holdStreams({ service, origin, page, clients, bytesPerSecond, seconds }) {
  const sentBefore = await origin.sentBytes();
  const readers = Array.from({ length: clients }, () =>
    slowClient(service.streamUrl(page, 'mp4-1080'), bytesPerSecond),
  );
  while (readers.some(({ received, ended }) => received === 0 && !ended)) await delay(100);
  const samples = [];
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    await delay(Math.min(1000, (seconds * 1000) / 10));
    samples.push({ seconds: (performance.now() - start) / 1000, bytes: await service.memory() });
  }
  const received = readers.reduce((sum, reader) => sum + reader.received, 0);
  const sent = (await origin.sentBytes()) - sentBefore;
  const broken = readers.filter(({ ended }) => ended).length;
  for (const reader of readers) reader.stop();
  await delay(1000);
  const settled = samples.slice(Math.floor(samples.length / 3));
  return {
    clients,
    broken,
    peak: Math.max(...samples.map(({ bytes }) => bytes)),
    mean: settled.reduce((sum, { bytes }) => sum + bytes, 0) / settled.length,
    growthPerMinute: slope(settled) * 60,
    /** What upstream has sent and no client has read yet, a stream. */
    aheadPerStream: (sent - received) / clients,
  };
}
