// With the real network; `apps/bg-removal/test/service/output.test.ts` tests the same by day with a tiny one.
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { newClient } from './support/client.js';
import { imageForm } from './support/form.js';
import { stack } from './support/stack.js';

let photo: { width: number; height: number };
beforeAll(async () => {
  const { width, height } = await sharp(await readFile(stack.photo)).metadata();
  photo = { width, height };
});

/** Sends the sample photo through the gateway from a separate IP address, and decodes the result. */
async function cutOut(fields: Record<string, string>) {
  await using client = await newClient();
  const body = await imageForm(fields);
  const response = await fetch(`${client.url}/api/remove-background`, { method: 'POST', body });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${response.status}: ${bytes.toString()}`);
  const number = (header: string) => Number(response.headers.get(header));
  const metadata = await sharp(bytes).metadata();
  expect([metadata.width, metadata.height]).toEqual([number('x-width'), number('x-height')]);
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const corner = [...data.subarray(0, 4)];
  const subject = {
    left: number('x-foreground-left'),
    top: number('x-foreground-top'),
    width: number('x-foreground-width'),
    height: number('x-foreground-height'),
  };
  const type = response.headers.get('content-type');
  return {
    metadata,
    data,
    info,
    corner,
    subject,
    type,
    disposition: response.headers.get('content-disposition'),
  };
}

async function problemOf(fields: Record<string, string>) {
  await using client = await newClient();
  const body = await imageForm(fields);
  const response = await fetch(`${client.url}/api/remove-background`, { method: 'POST', body });
  expect(response.status).toBe(400);
  return (await response.json()) as { code: string; errors: { field: string }[] };
}

test.each([
  ['png', 'png', 'image/png', 4],
  ['webp', 'webp', 'image/webp', 4],
  ['jpg', 'jpeg', 'image/jpeg', 3],
])("format=%s is a %s of the upload's size", async (format, decoded, mediaType, channels) => {
  const { metadata, type, corner, disposition } = await cutOut({ format });
  expect(metadata).toMatchObject({ format: decoded, channels, ...photo });
  expect(type).toBe(mediaType);
  expect(disposition).toContain(`.${format}`);
  expect(metadata.exif).toBeUndefined();
  if (format !== 'jpg') expect(corner[3]).toBe(0);
  else for (const value of corner) expect(value).toBeGreaterThan(250);
});

test.each([
  ['f00', [255, 0, 0, 255]],
  ['#0f08', [0, 255, 0, 136]],
  ['0000ff', [0, 0, 255, 255]],
  ['#12345678', [0x12, 0x34, 0x56, 0x78]],
  ['rebeccapurple', [0x66, 0x33, 0x99, 255]],
  ['transparent', [0, 0, 0, 0]],
])('bg_color=%s', async (color, expected) => {
  expect((await cutOut({ bg_color: color })).corner).toEqual(expected);
});

test('channels=alpha is the alpha of the cut-out as a grey PNG', async () => {
  const whole = await cutOut({});
  const matte = await cutOut({ channels: 'alpha' });
  expect(matte.metadata).toMatchObject({ format: 'png', channels: 1, depth: 'uchar', ...photo });
  for (let i = 0; i < whole.data.length; i += 4) {
    if (matte.data[i] !== whole.data[i + 3]) throw new Error(`Pixel ${i / 4} differs.`);
  }
});

test('crop=true crops to the rectangle in the headers, crop_margin widens it within the image', async () => {
  const { subject, metadata } = await cutOut({ crop: 'true' });
  expect([metadata.width, metadata.height]).toEqual([subject.width, subject.height]);

  const one = await cutOut({ crop: 'true', crop_margin: '1px' });
  expect(one.metadata.width).toBe(
    Math.min(photo.width, subject.left + subject.width + 1) - Math.max(0, subject.left - 1),
  );
  for (const margin of ['65535', '100%']) {
    const { metadata: widest } = await cutOut({ crop: 'true', crop_margin: margin });
    expect(widest.width).toBeGreaterThanOrEqual(one.metadata.width);
    expect(widest.width).toBeLessThanOrEqual(photo.width);
  }
  const none = await cutOut({ crop: 'true', crop_margin: '0' });
  expect(none.metadata.width).toBe(subject.width);
});

test('max_width and max_height scale down proportionally, and never up', async () => {
  const narrow = await cutOut({ max_width: '1' });
  expect(narrow.metadata.width).toBe(1);
  const half = await cutOut({ max_width: '65535', max_height: String(Math.round(photo.height / 2)) });
  expect(half.metadata.height).toBe(Math.round(photo.height / 2));
  expect(Math.abs(half.metadata.width - photo.width / 2)).toBeLessThanOrEqual(1);
  expect((await cutOut({ max_width: '65535', max_height: '65535' })).metadata).toMatchObject(photo);
});

test.each([
  [{ format: 'gif' }, 'format'],
  [{ format: 'PNG' }, 'format'],
  [{ bg_color: 'ff' }, 'bg_color'],
  [{ bg_color: 'nocolour' }, 'bg_color'],
  [{ channels: 'alpha', format: 'jpg' }, 'format'],
  [{ channels: 'rgb' }, 'channels'],
  [{ crop: '1' }, 'crop'],
  [{ crop_margin: '5px' }, 'crop_margin'],
  [{ crop: 'true', crop_margin: '100.1%' }, 'crop_margin'],
  [{ crop: 'true', crop_margin: '65536' }, 'crop_margin'],
  [{ max_width: '0' }, 'max_width'],
  [{ max_height: '65536' }, 'max_height'],
  [{ image_url: 'ftp://example.org/a.jpg' }, 'image_url'],
])('%j is rejected and names the field', async (fields, field) => {
  const problem = await problemOf(fields);
  expect(problem.code).toBe('invalid_request');
  expect(problem.errors.map((error) => error.field)).toContain(field);
});
