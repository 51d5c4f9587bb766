import sharp from 'sharp';
import { isNight } from '../../../../proof/vitest/at-night.js';
import { backdrop, pixelsOf } from '../support/pictures.js';
import {
  health,
  healthUntil,
  postImage,
  problemOf,
  startWarmService,
  type TestService,
} from '../support/service.js';

/** A mug with a handle on a plain wall: sharp edges, a hole, a shadow-free backdrop. */
function mug(width: number, height: number): Promise<Buffer> {
  const s = Math.min(width, height);
  const [x, y] = [width / 2, height / 2];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <defs><linearGradient id="g"><stop offset="0" stop-color="#d9482b"/><stop offset="1" stop-color="#7c1f10"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="rgb(${backdrop.r + 150},${backdrop.g + 140},${backdrop.b + 120})"/>
    <path d="M${x - s * 0.25},${y - s * 0.25} h${s * 0.45} l${-s * 0.03},${s * 0.5} h${-s * 0.39}Z" fill="url(#g)"/>
    <path d="M${x + s * 0.19},${y - s * 0.15} q${s * 0.25},${s * 0.12} ${-s * 0.02},${s * 0.28}" fill="none" stroke="#7c1f10" stroke-width="${s * 0.05}"/>
  </svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().jpeg({ quality: 92 }).toBuffer();
}

describe('with the real model', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startWarmService({ MODEL: 'isnet-general-use' });
  });
  afterAll(() => service.stop());

  test('health names the model with its checksum and licence', async () => {
    expect((await health(service)).body.checks['engine']).toMatchObject({
      status: 'ok',
      model: 'isnet-general-use',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      licence: 'unstated',
    });
  });

  test('its own result sent again keeps every visible pixel, softened only if asked for', async () => {
    const first = (await postImage(service, await mug(500, 400))).body as Buffer;
    const again = (await postImage(service, first)).body as Buffer;
    expect((await pixelsOf(again)).data).toEqual((await pixelsOf(first)).data);
    const softened = (await postImage(service, first, { fields: { feather: '20' } })).body as Buffer;
    const partly = ({ data }: { data: Uint8Array }) =>
      data.filter((alpha, i) => i % 4 === 3 && alpha > 0 && alpha < 255).length;
    expect(partly(await pixelsOf(softened))).toBeGreaterThan(2 * partly(await pixelsOf(first)));
  });

  test('a mug: the mug is opaque and the wall is gone, also inside the handle; health responds meanwhile', async () => {
    const [width, height] = [900, 700];
    const pending = postImage(service, await mug(width, height));
    await healthUntil(service, ({ body }) => body.checks['engine']?.['active'] === 1);
    const response = await pending;
    expect(response.status).toBe(200);
    const pixels = await pixelsOf(response.body as Buffer);
    expect([pixels.width, pixels.height]).toEqual([width, height]);
    for (const [x, y] of [
      [450, 350],
      [350, 250],
      [500, 450],
    ] as const) {
      expect(pixels.at(x, y).alpha).toBeGreaterThan(250);
      expect(pixels.at(x, y).r).toBeGreaterThan(100);
    }
    for (const [x, y] of [
      [5, 5],
      [895, 5],
      [5, 695],
      [895, 695],
      [150, 350],
      [450, 80],
    ] as const) {
      expect(pixels.at(x, y)).toEqual({ r: 0, g: 0, b: 0, alpha: 0 });
    }
    expect(pixels.at(609, 348).alpha).toBeLessThan(40);
  });

  // By day, other tests try these with networks that are quicker to run and to replace.
  if (isNight) {
    test('a grey card has no foreground', async () => {
      const card = await sharp({ create: { width: 400, height: 300, channels: 3, background: '#808080' } })
        .png()
        .toBuffer();
      expect(problemOf(await postImage(service, card))).toMatchObject({
        status: 422,
        code: 'no_foreground',
      });
    });

    test('a process killed during a real inference fails only that image', async () => {
      const pending = postImage(service, await mug(900, 700));
      await healthUntil(service, ({ body }) => body.checks['engine']?.['active'] === 1);
      const [pid = 0] = service.enginePids();
      process.kill(pid, 'SIGKILL');
      expect((await pending).status).toBe(503);
      expect((await postImage(service, await mug(300, 200))).status).toBe(200);
    });
  }
});
