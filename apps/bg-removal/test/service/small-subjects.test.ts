import sharp from 'sharp';
import { postImage, startWarmService } from '../support/service.js';

/** A bright disc with a radius of 60 pixels in a dark image; the tiny network takes 12 × 12 pixels for one. */
const size = 768;
const centre = { x: 260, y: 400 };
const radius = 60;

async function image(): Promise<Buffer> {
  const disc = `<svg width="${size}" height="${size}"><rect width="100%" height="100%" fill="#203040"/><circle cx="${centre.x}" cy="${centre.y}" r="${radius}" fill="#f0e8e0"/></svg>`;
  return sharp(Buffer.from(disc)).removeAlpha().png().toBuffer();
}

/** The mean error of alpha, 0-255, beside a disc with a hard edge. */
async function errorWith(env: Record<string, string>): Promise<number> {
  const service = await startWarmService(env);
  try {
    const response = await postImage(service, await image(), { fields: { feather: '0' } });
    expect(response.status).toBe(200);
    const alpha = await sharp(Buffer.from(response.body as Uint8Array))
      .extractChannel('alpha')
      .raw()
      .toBuffer();
    let sum = 0;
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        const isInside = Math.hypot(x + 0.5 - centre.x, y + 0.5 - centre.y) < radius;
        sum += Math.abs((alpha[y * size + x] ?? 0) - (isInside ? 255 : 0));
      }
    }
    return sum / size ** 2;
  } finally {
    await service.stop();
  }
}

test('a small subject has finer edges, unless REFINE_SMALL_SUBJECTS is off', async () => {
  expect(await errorWith({})).toBeLessThan(0.8 * (await errorWith({ REFINE_SMALL_SUBJECTS: 'off' })));
});
