import { createHash } from 'node:crypto';
import { z } from 'zod';
import sharp from 'sharp';
import { api } from '../../src/api/openapi.js';
import { parametersSchema } from '../../src/api/parameters.js';
import { picture, subject } from '../support/pictures.js';
import { postImage, problemOf, startWarmService, type TestService } from '../support/service.js';

let service: TestService;
let file: Buffer;
beforeAll(async () => {
  service = await startWarmService();
  file = await picture(300, 200).png().toBuffer();
});
afterAll(() => service.stop());

async function result(fields: Record<string, string>) {
  const response = await postImage(service, file, { fields });
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
  const bytes = Buffer.from(response.body as Uint8Array);
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const metadata = await sharp(bytes).metadata();
  const at = (x: number, y: number) => [
    ...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels),
  ];
  const number = (name: string) => Number(response.get(name));
  expect([number('x-width'), number('x-height')]).toEqual([info.width, info.height]);
  const box = {
    left: number('x-foreground-left'),
    top: number('x-foreground-top'),
    width: number('x-foreground-width'),
    height: number('x-foreground-height'),
  };
  return { response, bytes, info, metadata, at, box };
}

test('every format is a documented media type', async () => {
  const [operation] = api.operations;
  for (const format of ['png', 'webp', 'jpg']) {
    const { response } = await result({ format });
    expect(operation?.success.mediaType).toContain(response.get('content-type'));
  }
});

test('explicit defaults give the same bytes as no parameters', async () => {
  const sha = async (fields: Record<string, string>) =>
    createHash('sha256')
      .update((await result(fields)).bytes)
      .digest('hex');
  expect(await sha({ format: 'png', channels: 'rgba', crop: 'false' })).toBe(await sha({}));
});

test('the headers give the position of the subject', async () => {
  const { box, at } = await result({ feather: '0' });
  // A disc at a third of the width and 37.5 % of the height; its radius is a quarter of the
  // shorter side.
  expect(Math.abs(box.left - 50)).toBeLessThanOrEqual(8);
  expect(Math.abs(box.top - 25)).toBeLessThanOrEqual(8);
  expect(Math.abs(box.width - 100)).toBeLessThanOrEqual(16);
  expect(Math.abs(box.height - 100)).toBeLessThanOrEqual(16);
  for (let y = 0; y < 200; y++) expect(at(box.left - 1, y)[3]).toBe(0);
});

test('format=webp keeps the alpha losslessly', async () => {
  const png = await result({});
  const webp = await result({ format: 'webp' });
  expect(webp.response.get('content-type')).toBe('image/webp');
  expect(webp.response.get('content-disposition')).toBe('attachment; filename="picture.webp"');
  expect(webp.metadata.format).toBe('webp');
  const alphaOf = ({ at }: typeof png) =>
    Array.from({ length: 300 * 200 }, (_, i) => at(i % 300, Math.floor(i / 300))[3]);
  expect(alphaOf(webp)).toEqual(alphaOf(png));
});

test('format=jpg has a white background, or bg_color, which may be translucent', async () => {
  const white = await result({ format: 'jpg' });
  expect(white.response.get('content-type')).toBe('image/jpeg');
  expect(white.response.get('content-disposition')).toBe('attachment; filename="picture.jpg"');
  expect(white.info.channels).toBe(3);
  expect(Math.min(...white.at(290, 190))).toBeGreaterThanOrEqual(253);
  const [r = 0, g = 0, b = 0] = (await result({ format: 'jpg', bg_color: 'navy' })).at(290, 190);
  expect([r <= 3, g <= 3, Math.abs(b - 128) <= 3]).toEqual([true, true, true]);
  const pink = (await result({ format: 'jpg', bg_color: 'ff000080' })).at(290, 190);
  [255, 127, 127].forEach((value, i) => expect(Math.abs((pink[i] ?? 0) - value)).toBeLessThanOrEqual(3));
});

/** As documented for clients. */
const bgColorPattern = z.toJSONSchema(parametersSchema.shape.bg_color, { io: 'input' }).pattern ?? '';

test.each([
  ['#f00', [255, 0, 0, 255]],
  ['0f08', [0, 255, 0, 136]],
  ['102030', [16, 32, 48, 255]],
  ['#10203040', [16, 32, 48, 64]],
  ['#ABCDEF', [171, 205, 239, 255]],
  ['RebeccaPurple', [102, 51, 153, 255]],
  ['transparent', [0, 0, 0, 0]],
])('bg_color=%s is behind the subject and not in front of it', async (bg_color, colour) => {
  expect(bg_color).toMatch(new RegExp(bgColorPattern));
  const { at } = await result({ bg_color });
  expect(at(290, 190)).toEqual(colour);
  expect(Math.abs((at(100, 75)[0] ?? 0) - subject.r)).toBeLessThanOrEqual(8);
  expect(at(100, 75)[3]).toBe(255);
});

test('channels=alpha is the matte of the cut-out, as a grey PNG', async () => {
  const { at } = await result({});
  const matte = await result({ channels: 'alpha' });
  expect(matte.metadata).toMatchObject({ format: 'png', space: 'b-w', depth: 'uchar', hasAlpha: false });
  for (let x = 0; x < 300; x++) expect(matte.at(x, 75)[0]).toBe(at(x, 75)[3]);
});

test('crop keeps the subject, with a margin in pixels or percent, limited by the image', async () => {
  const plain = await result({});
  const { left, top, width, height } = plain.box;
  const cropped = await result({ crop: 'true' });
  expect(cropped.box).toEqual(plain.box);
  expect([cropped.info.width, cropped.info.height]).toEqual([width, height]);
  expect(cropped.at(50, 50)).toEqual(plain.at(left + 50, top + 50));
  const px = await result({ crop: 'true', crop_margin: '7px' });
  expect([px.info.width, px.info.height]).toEqual([width + 14, height + 14]);
  const percent = await result({ crop: 'true', crop_margin: '10%' });
  expect(percent.info.width).toBe(width + 2 * Math.round(width / 10));
  const all = await result({ crop: 'true', crop_margin: '65535' });
  expect([all.info.width, all.info.height]).toEqual([300, 200]);
});

test('max_width and max_height scale down proportionally, and never up', async () => {
  const size = async (fields: Record<string, string>) => {
    const { info } = await result(fields);
    return [info.width, info.height];
  };
  expect(await size({ max_width: '150' })).toEqual([150, 100]);
  expect(await size({ max_width: '150', max_height: '50', format: 'webp' })).toEqual([75, 50]);
  expect(await size({ max_width: '65535', max_height: '200' })).toEqual([300, 200]);
  expect(await size({ max_height: '1' })).toEqual([2, 1]);
  expect(await size({ max_width: '50', channels: 'alpha' })).toEqual([50, 33]);
});

test.each([
  ['format', { format: 'gif' }],
  ['format', { format: 'webp', channels: 'alpha' }],
  ['channels', { channels: 'rgb' }],
  ['bg_color', { bg_color: '#12345' }],
  ['bg_color', { bg_color: 'nocolour' }],
  ['bg_color', { bg_color: 'constructor' }],
  ['bg_color', { bg_color: 'red', channels: 'alpha' }],
  ['crop', { crop: 'yes' }],
  ['crop_margin', { crop_margin: '5' }],
  ['crop_margin', { crop: 'true', crop_margin: '-1' }],
  ['crop_margin', { crop: 'true', crop_margin: '101%' }],
  ['crop_margin', { crop: 'true', crop_margin: '65536' }],
  ['max_width', { max_width: '0' }],
  ['max_width', { max_width: '65536' }],
  ['max_height', { max_height: '10.5' }],
])('%s is checked: %j', async (field, fields) => {
  const problem = problemOf(
    await postImage(service, file, { fields: fields as unknown as Record<string, string> }),
  );
  expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(problem.errors?.map((error) => error.field)).toEqual([field]);
});

test.each([
  ['webp', 16_383],
  ['jpg', 65_500],
])(
  'rejects a %s that would have more than %d pixels per side and says what to do instead',
  async (format, side) => {
    const long = await sharp({ create: { width: side + 1, height: 2, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const problem = problemOf(await postImage(service, long, { fields: { format } }));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(problem.errors?.[0]?.message).toContain(String(side));
    const fitting = { format, max_width: String(side) };
    expect((await postImage(service, long, { fields: fitting })).status).toBe(200);
  },
);
