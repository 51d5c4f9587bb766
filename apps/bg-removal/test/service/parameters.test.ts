import request from 'supertest';
import { picture, pixelsOf } from '../support/pictures.js';
import { postImage, problemOf, startWarmService, type TestService } from '../support/service.js';

let service: TestService;
let file: Buffer;
beforeAll(async () => {
  service = await startWarmService({ IMAGES_PER_MINUTE: '0' });
  file = await picture().png().toBuffer();
});
afterAll(() => service.stop());

const post = (query = '') => request(service.url).post(`/api/remove-background${query}`);

test.each([
  ['threshold', ['abc', 'NaN', 'Infinity', '-1', '255.1', '256', '1e2', '0x10', '1,5', ' 12', '+3']],
  ['feather', ['x', '-0.1', '24.01', '1e1']],
  ['foreground_strength', ['0.49', '2.01', '--1', '1.']],
])('%s is parsed strictly', async (name, values) => {
  for (const value of values) {
    const problem = problemOf(await postImage(service, file, { fields: { [name]: value } }));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(problem.errors).toEqual([
      { field: name, message: expect.stringContaining('must be a number from') as string },
    ]);
  }
});

test.each([
  ['threshold', ['0', '255', '12.5']],
  ['feather', ['0', '24', '1.25']],
  ['foreground_strength', ['0.5', '2.0', '1']],
])('%s accepts its whole range', async (name, values) => {
  for (const value of values) {
    expect((await postImage(service, file, { fields: { [name]: value } })).status).toBe(200);
  }
});

test('reports every invalid and unknown field at once, and the missing file', async () => {
  const problem = problemOf(await post().field({ threshold: 'x', feather: '99', colour: 'red' }));
  expect(problem.errors?.map(({ field }) => field).sort()).toEqual([
    'colour',
    'feather',
    'file',
    'threshold',
  ]);
});

test('the error for a form without a usable file says what is wrong', async () => {
  const detail = async (test: request.Test) => {
    const { detail, errors } = problemOf(await test);
    return errors?.map(({ message }) => message).join() ?? detail;
  };
  expect(await detail(post().field('threshold', '3'))).toContain('has no image');
  expect(await detail(post().attach('file', Buffer.alloc(0), 'a.png'))).toContain('is empty');
  for (const length of [10, 5000]) {
    expect(await detail(post().field('file', 'x'.repeat(length)))).toContain('is text. Send it as a file');
  }
  const encoded = post().set('Content-Encoding', 'gzip').attach('file', file, 'a.png');
  expect(await detail(encoded)).toContain('Send it uncompressed');
});

test('rejects a repeated field', async () => {
  const problem = problemOf(
    await post().field('feather', '1').field('feather', '2').attach('file', file, 'a.png'),
  );
  expect(problem.errors).toEqual([{ field: 'feather', message: 'must be given once' }]);
});

test('an empty field is not given, as forms and programs send it', async () => {
  const names = ['threshold', 'feather', 'foreground_strength', 'format', 'channels', 'bg_color', 'crop'];
  names.push('crop_margin', 'max_width', 'max_height', 'image_url');
  const fields = Object.fromEntries(names.map((name) => [name, '']));
  const response = await postImage(service, file, { fields });
  expect(response.status).toBe(200);
  expect(response.body).toEqual((await postImage(service, file)).body);
});

test.each([
  ['crop', ['True', '1', 'ON', 'true'], 'crop', 'true'],
  ['crop', ['False', '0', 'off'], 'crop', 'false'],
  ['format', ['jpeg', 'JPEG', 'JPG'], 'format', 'jpg'],
  ['format', ['PNG'], 'format', 'png'],
])('%s as %j means %s=%s', async (name, values, known, value) => {
  const expected = (await postImage(service, file, { fields: { [known]: value } })).body as Buffer;
  for (const each of values) {
    const response = await postImage(service, file, { fields: { [name]: each } });
    expect(response.status).toBe(200);
    expect(Buffer.compare(response.body as Buffer, expected)).toBe(0);
  }
});

describe('a body that is the image itself', () => {
  const send = (query: string, type: string, body: Buffer) => post(query).type(type).send(body);

  test.each(['image/png', 'image/jpeg', 'image/x-unknown', 'application/octet-stream'])(
    'as %s takes its parameters from the query',
    async (type) => {
      const response = await send('?feather=7&crop=True&format=', type, file);
      expect(response.status).toBe(200);
      const fields = { feather: '7', crop: 'true' };
      const sameAsForm = await postImage(service, file, { fields });
      expect(Buffer.compare(response.body as Buffer, sameAsForm.body as Buffer)).toBe(0);
      expect(response.get('content-disposition')).toBe('attachment; filename="image.png"');
    },
  );

  test('is checked like a form', async () => {
    const problem = problemOf(await send('?feather=99&colour=red&crop=1&crop=0', 'image/png', file));
    expect(problem.errors?.map(({ field }) => field).sort()).toEqual(['colour', 'crop', 'feather']);
    expect(problemOf(await send('', 'image/png', Buffer.alloc(0)))).toMatchObject({ code: 'missing_file' });
    expect(problemOf(await send('', 'image/gif', Buffer.from('GIF89a')))).toMatchObject({
      code: 'unsupported_media_type',
    });
  });
});

describe('a part of a form', () => {
  /** Sends parts with these headers. */
  const parts = async (...each: [string, Buffer | string][]) =>
    post()
      .type('multipart/form-data; boundary=x')
      .send(
        Buffer.concat([
          ...each.map(([headers, content]) =>
            Buffer.concat([
              Buffer.from(`--x\r\n${headers}\r\n\r\n`),
              Buffer.from(content),
              Buffer.from('\r\n'),
            ]),
          ),
          Buffer.from('--x--\r\n'),
        ]),
      );
  const disposition = 'Content-Disposition: form-data; name="file"';

  test.each([
    ['no name and no type', disposition],
    ['no name', `${disposition}\r\nContent-Type: image/png`],
    ['no name and a general type', `${disposition}\r\nContent-Type: application/octet-stream`],
    ['an empty name', `${disposition}; filename=""\r\nContent-Type: image/png`],
    ['a name and no type', `${disposition}; filename="a.png"`],
  ])('with %s is the image', async (_what, headers) => {
    const response = await parts([headers, file]);
    expect(response.status).toBe(200);
    expect(Buffer.compare(response.body as Buffer, (await postImage(service, file)).body as Buffer)).toBe(0);
  });

  test.each(['file', 'file2', 'image'])('that is an empty file called "%s" is ignored', async (name) => {
    const empty = `Content-Disposition: form-data; name="${name}"; filename=""\r\nContent-Type: application/octet-stream`;
    expect((await parts([`${disposition}; filename="a.png"`, file], [empty, ''])).status).toBe(200);
    expect((await parts([empty, ''], [`${disposition}; filename="a.png"`, file])).status).toBe(200);
  });

  test('that is a second image is an error, with or without a name', async () => {
    const named = `${disposition}; filename="a.png"`;
    for (const second of [named, disposition]) {
      const problem = problemOf(await parts([named, file], [second, file]));
      expect(problem.errors).toEqual([{ field: 'file', message: 'must be given once' }]);
    }
  });

  test('that is text is read as UTF-8', async () => {
    const field = 'Content-Disposition: form-data; name="bg_color"';
    for (const headers of [field, `${field}\r\nContent-Type: text/plain; charset=utf-8`]) {
      const problem = problemOf(await parts([disposition, file], [headers, 'žlutá']));
      expect(problem.errors?.map((error) => error.field)).toEqual(['bg_color']);
    }
  });
});

test('rejects parameters in the query of a form instead of ignoring them', async () => {
  const problem = problemOf(await post('?feather=3').attach('file', file, 'a.png'));
  expect(problem.errors?.map(({ field }) => field)).toEqual(['feather']);
});

test('the defaults are threshold 12, feather 2 and foreground_strength 1', async () => {
  const defaults = { threshold: '12', feather: '2', foreground_strength: '1' };
  const pixelsWith = async (fields: Record<string, string>) =>
    pixelsOf((await postImage(service, file, { fields })).body as Buffer);
  const implicit = await pixelsWith({});
  const explicit = await pixelsWith(defaults);
  const other = await pixelsWith({ feather: '0' });
  expect(implicit.data).toEqual(explicit.data);
  expect(implicit.data).not.toEqual(other.data);
});

test("the result has the upload's name as PNG, without folders, for any characters", async () => {
  const disposition = async (fileName: string) =>
    (await postImage(service, file, { fileName })).get('content-disposition');
  expect(await disposition('cat.jpeg')).toBe('attachment; filename="cat.png"');
  expect(await disposition('../../etc/passwd')).toBe('attachment; filename="passwd.png"');
  expect(await disposition('.jpg')).toBe('attachment; filename="image.png"');
  expect(await disposition('Žofie 猫.webp')).toBe(
    `attachment; filename="Zofie _.png"; filename*=UTF-8''%C5%BDofie%20%E7%8C%AB.png`,
  );
  expect(await disposition('Müller.jpg')).toBe(
    `attachment; filename="Muller.png"; filename*=UTF-8''M%C3%BCller.png`,
  );
  expect(await disposition('n'.repeat(400))).toBe(`attachment; filename="${'n'.repeat(180)}.png"`);
  expect(await disposition('猫'.repeat(100))).toContain(`UTF-8''${'%E7%8C%AB'.repeat(60)}.png`);
  expect(await disposition('con.jpg')).toBe('attachment; filename="_con.png"');
});

test('Server-Timing lists the stages', async () => {
  const timing = (await postImage(service, file)).get('server-timing');
  for (const stage of ['upload', 'prepare', 'queue', 'inference', 'decode', 'matte', 'encode', 'total']) {
    expect(timing).toMatch(new RegExp(`(^|, )${stage};dur=\\d+\\.\\d`));
  }
});

test('only POST is allowed', async () => {
  const response = await request(service.url).get('/api/remove-background');
  expect(response.get('allow')).toBe('POST');
  expect(problemOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' });
});

test('IMAGES_PER_MINUTE=0 disables the rate limit', async () => {
  for (let i = 0; i < 7; i++) {
    const response = await postImage(service, file);
    expect(response.status).toBe(200);
    expect(response.get('ratelimit')).toBeUndefined();
  }
});
