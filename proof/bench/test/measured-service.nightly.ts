import sharp from 'sharp';
import { startService } from '../src/bg/service.js';

it('reports its stage times and memory, and ends', async () => {
  const drawing =
    '<svg width="256" height="256"><rect width="256" height="256" fill="teal"/><circle cx="128" cy="128" r="70" fill="gold"/></svg>';
  const picture = await sharp(Buffer.from(drawing)).jpeg().toBuffer();
  const service = await startService();
  try {
    const { status, ms, stages } = await service.request(Uint8Array.from(picture));
    expect(status).toBe(200);
    expect(stages['inference']).toBeLessThan(ms);
    const { service: own, inference } = await service.peakMiB();
    expect(Math.min(own, ...inference)).toBeGreaterThan(10);
  } finally {
    await service.stop();
  }
}, 120_000);
