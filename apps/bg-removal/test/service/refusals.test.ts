import http from 'node:http';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import sharp from 'sharp';
import request from 'supertest';
import { picture } from '../support/pictures.js';
import { postImage, problemOf, startWarmService, type TestService } from '../support/service.js';
import { bombPng } from '../support/unusual-files.js';

const maxPixels = 20_000;
const maxFileBytes = 200_000;
let service: TestService;
beforeAll(async () => {
  service = await startWarmService({
    IMAGE_MAX_PIXELS: String(maxPixels),
    IMAGE_MAX_BYTES: String(maxFileBytes),
  });
});
afterAll(() => service.stop());

const black = (width: number, height: number, format: 'png' | 'jpeg' | 'gif' | 'tiff' | 'avif' = 'png') =>
  sharp({ create: { width, height, channels: 3, background: '#000000' } })
    .toFormat(format)
    .toBuffer();

describe('type by content', () => {
  const others: Record<string, () => Promise<Uint8Array> | Uint8Array> = {
    'a text file': () => Buffer.from('not an image at all'),
    'a GIF': () => black(9, 9, 'gif'),
    'a TIFF': () => black(9, 9, 'tiff'),
    'an AVIF': () => black(16, 16, 'avif'),
    'an SVG': () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    'a PDF': () => Buffer.from('%PDF-1.7\n'),
    'one byte': () => Buffer.from([0xff]),
  };
  for (const [name, make] of Object.entries(others)) {
    test(`${name} is 415 under any name, and the response lists the accepted types`, async () => {
      const problem = problemOf(await postImage(service, await make(), { fileName: 'photo.jpg' }));
      expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type' });
      expect(problem.detail).toContain('JPEG, PNG or WebP');
    });
  }

  test.each([
    [
      'an AVIF image',
      'an AVIF with the major brand mif1',
      Buffer.from('\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf', 'latin1'),
    ],
    [
      'a HEIC photo',
      'a HEIC with the major brand mif1',
      Buffer.from('\0\0\0\x18ftypmif1\0\0\0\0mif1heic', 'latin1'),
    ],
    [
      'an SVG',
      'an SVG with a declaration',
      Buffer.from('<?xml version="1.0"?>\n<!-- made by hand -->\n<svg width="9"/>'),
    ],
    ['an SVG', 'an SVG with a byte order mark', Buffer.from('\ufeff  <svg/>')],
  ])('names %s: %s', async (named, _what, file) => {
    expect(problemOf(await postImage(service, file)).detail).toContain(`The file is ${named}`);
  });

  test('a JPEG called .txt is accepted', async () => {
    const response = await postImage(service, await picture().jpeg().toBuffer(), { fileName: 'notes.txt' });
    expect(response.status).toBe(200);
  });

  test('a body that is neither a form nor an image is 415', async () => {
    const response = await request(service.url)
      .post('/api/remove-background')
      .type('application/json')
      .send('{}');
    expect(problemOf(response)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });
});

describe('damaged images', () => {
  const cut = async (format: 'jpeg' | 'png' | 'webp', share: number) => {
    const noise = sharp({
      create: {
        width: 120,
        height: 100,
        channels: 3,
        background: '#888',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    });
    const whole = await noise.toFormat(format).toBuffer();
    return whole.subarray(0, Math.round(whole.length * share));
  };
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    for (const share of [0.02, 0.5, 0.95]) {
      test(`a ${format} cut at ${share * 100} % is 422`, async () => {
        const problem = problemOf(await postImage(service, await cut(format, share)));
        expect(problem).toMatchObject({ status: 422, code: 'unreadable_image' });
      });
    }
  }

  test.each([false, true])('a JPEG without some of its data is 422, progressive: %s', async (progressive) => {
    const file = await picture().jpeg({ progressive, quality: 95 }).toBuffer();
    const lost = Buffer.concat([file.subarray(0, file.length * 0.6), file.subarray(-2)]);
    const problem = problemOf(await postImage(service, lost));
    expect(problem).toMatchObject({ status: 422, code: 'unreadable_image' });
  });

  test.each([
    [false, 200],
    [true, 422], // its last scans may be missing
  ])('a JPEG without only its last marker, progressive: %s, is %d', async (progressive, status) => {
    const file = await picture().jpeg({ progressive }).toBuffer();
    expect((await postImage(service, file.subarray(0, -2))).status).toBe(status);
  });

  test('stray bytes between the segments of a JPEG are harmless', async () => {
    const file = await picture().jpeg().toBuffer();
    const frame = file.indexOf(Buffer.from([0xff, 0xc0]));
    const stray = Buffer.concat([file.subarray(0, frame), Buffer.from([1, 2, 3]), file.subarray(frame)]);
    expect((await postImage(service, stray)).status).toBe(200);
  });

  test('a file that is only a signature is 422', async () => {
    const problem = problemOf(await postImage(service, Buffer.from('89504e470d0a1a0a', 'hex')));
    expect(problem).toMatchObject({ status: 422, code: 'unreadable_image' });
  });

  test('bytes after the end of a JPEG are harmless', async () => {
    const file = Buffer.concat([await picture().jpeg().toBuffer(), Buffer.alloc(500, 7)]);
    expect((await postImage(service, file)).status).toBe(200);
  });
});

describe('limits', () => {
  test('exactly the maximum number of pixels is accepted, one row more is 413', async () => {
    const bright = (height: number) =>
      sharp({ create: { width: 200, height, channels: 3, background: '#ffffff' } })
        .png()
        .toBuffer();
    expect((await postImage(service, await bright(maxPixels / 200))).status).toBe(200);
    const problem = problemOf(await postImage(service, await bright(maxPixels / 200 + 1)));
    expect(problem).toMatchObject({ status: 413, code: 'image_too_large' });
    expect(problem.detail).toContain('200 × 101');
  });

  test('a decompression bomb is rejected by its header', async () => {
    const bomb = bombPng(30_000, 30_000);
    expect(problemOf(await postImage(service, bomb))).toMatchObject({
      status: 413,
      code: 'image_too_large',
    });
  });

  test('exactly the maximum number of bytes is accepted, one more is 413', async () => {
    const image = await picture().png().toBuffer();
    const padded = (bytes: number) => Buffer.concat([image, Buffer.alloc(bytes - image.length)]);
    expect((await postImage(service, padded(maxFileBytes))).status).toBe(200);
    expect(problemOf(await postImage(service, padded(maxFileBytes + 1)))).toMatchObject({
      status: 413,
      code: 'file_too_large',
    });
  });

  test('a body with a too large Content-Length is rejected before it is sent', async () => {
    const upload = http.request(service.endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': String(maxFileBytes * 10),
      },
    });
    upload.flushHeaders();
    const [response] = (await once(upload, 'response')) as [http.IncomingMessage];
    expect(response.statusCode).toBe(413);
    expect(await json(response)).toMatchObject({ code: 'file_too_large' });
    upload.destroy();
  });

  test('a body without Content-Length is rejected as soon as it is too long', async () => {
    const upload = http.request(service.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x', 'transfer-encoding': 'chunked' },
    });
    // The server closes the connection of a client that keeps sending.
    upload.on('error', () => undefined);
    upload.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n');
    const sending = setInterval(() => upload.write(Buffer.alloc(64 * 1024)), 5);
    try {
      // Rejects if the connection breaks without a response.
      const [response] = (await once(upload, 'response')) as [http.IncomingMessage];
      expect(response.statusCode).toBe(413);
      expect(await json(response)).toMatchObject({ code: 'file_too_large' });
    } finally {
      clearInterval(sending);
      upload.destroy();
    }
  });
});

describe('no foreground', () => {
  test('an image without a visible subject is 422 instead of stretched noise', async () => {
    expect(problemOf(await postImage(service, await black(90, 60)))).toMatchObject({
      status: 422,
      code: 'no_foreground',
    });
  });
});

describe('the form', () => {
  const post = (parts: string[], boundary = 'x') =>
    request(service.url)
      .post('/api/remove-background')
      .type(`multipart/form-data; boundary=${boundary}`)
      .send(parts.join(''));
  const field = (name: string, value: string) =>
    `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name: string, content = 'abc') =>
    `--x\r\ncontent-disposition: form-data; name="${name}"; filename="a.jpg"\r\n\r\n${content}\r\n`;
  const end = '--x--\r\n';

  test('without a file it is missing_file', async () => {
    expect(problemOf(await post([end]))).toMatchObject({ status: 400, code: 'missing_file' });
    expect(problemOf(await post([field('file', 'text'), end]))).toMatchObject({ code: 'missing_file' });
    expect(problemOf(await post([file('file', ''), end]))).toMatchObject({ code: 'missing_file' });
    expect(problemOf(await request(service.url).post('/api/remove-background'))).toMatchObject({
      code: 'missing_file',
    });
  });

  const broken: Record<string, [string[], string]> = {
    'a file of another name': [[file('image'), end], 'image'],
    'two files': [[file('file'), file('file'), end], 'file'],
    'a name that is too long': [[field('n'.repeat(200), '1'), end], 'body'],
    'a value that is too long': [[field('threshold', '1'.repeat(3000)), end], 'threshold'],
    'too many fields': [[...Array.from({ length: 30 }, (_, i) => field(`f${i}`, '1')), end], 'body'],
    'a part without a name': [['--x\r\ncontent-disposition: form-data\r\n\r\n1\r\n', end], 'body'],
    'no end': [[field('threshold', '1')], 'body'],
    'a nested name': [[field('a[b]', '1'), end], 'a[b]'],
  };
  for (const [name, [parts, named]] of Object.entries(broken)) {
    test(`${name} is invalid_request and names it`, async () => {
      const problem = problemOf(await post(parts));
      expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(problem.errors?.map(({ field: f }) => f).join()).toContain(named);
    });
  }
});
