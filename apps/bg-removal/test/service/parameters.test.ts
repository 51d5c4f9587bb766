import { picture } from '../support/pictures.js';
import { pixelsOf } from '../support/pictures.js';
import { postImage, problemOf, startWarmService, type TestService } from '../support/service.js';

let service: TestService;
let file: Buffer;
beforeAll(async () => {
  service = await startWarmService();
  file = await picture().png().toBuffer();
});
afterAll(() => service.stop());

test.each([
  ['threshold', ['', 'abc', 'NaN', 'Infinity', '-1', '255.1', '256', '1e2', '0x10', '1,5', ' 12', '+3']],
  ['feather', ['', 'x', '-0.1', '24.01', '1e1']],
  ['foreground_strength', ['', '0.49', '2.01', '--1', '1.']],
])('%s is parsed strictly', async (name, values) => {
  for (const value of values) {
    const problem = await problemOf(await postImage(service, file, { fields: { [name]: value } }));
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

test('every wrong and unknown field is named at once, the missing file too', async () => {
  const form = new FormData();
  form.append('threshold', 'x');
  form.append('feather', '99');
  form.append('colour', 'red');
  const problem = await problemOf(await fetch(service.endpoint, { method: 'POST', body: form }));
  expect(problem.errors?.map(({ field }) => field).sort()).toEqual([
    'colour',
    'feather',
    'file',
    'threshold',
  ]);
});

test('a repeated field is refused', async () => {
  const form = new FormData();
  form.append('feather', '1');
  form.append('feather', '2');
  form.append('file', new Blob([Uint8Array.from(file)]), 'a.png');
  const problem = await problemOf(await fetch(service.endpoint, { method: 'POST', body: form }));
  expect(problem.errors).toEqual([{ field: 'feather', message: 'must be given once' }]);
});

test('parameters in the address are refused instead of ignored', async () => {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(file)]), 'a.png');
  const problem = await problemOf(
    await fetch(`${service.endpoint}?feather=3`, { method: 'POST', body: form }),
  );
  expect(problem.errors?.map(({ field }) => field)).toEqual(['feather']);
});

test('the defaults are threshold 12, feather 2 and foreground_strength 1', async () => {
  const defaults = { threshold: '12', feather: '2', foreground_strength: '1' };
  const implicit = await pixelsOf(await (await postImage(service, file)).arrayBuffer());
  const explicit = await pixelsOf(await (await postImage(service, file, { fields: defaults })).arrayBuffer());
  const other = await pixelsOf(
    await (await postImage(service, file, { fields: { feather: '0' } })).arrayBuffer(),
  );
  expect(implicit.data).toEqual(explicit.data);
  expect(implicit.data).not.toEqual(other.data);
});

test('the name of the upload comes back as a PNG, without folders, whatever its letters', async () => {
  const disposition = async (fileName: string) =>
    (await postImage(service, file, { fileName })).headers.get('content-disposition');
  expect(await disposition('cat.jpeg')).toBe('attachment; filename="cat.png"');
  expect(await disposition('../../etc/passwd')).toBe('attachment; filename="passwd.png"');
  expect(await disposition('.jpg')).toBe('attachment; filename="image.png"');
  expect(await disposition('Žofie 猫.webp')).toBe(
    `attachment; filename="Zofie ?.png"; filename*=UTF-8''%C5%BDofie%20%E7%8C%AB.png`.replace(
      'Zofie',
      '?ofie',
    ),
  );
  expect((await disposition('n'.repeat(400)))?.length).toBeLessThan(200);
});

test('Server-Timing tells the stages', async () => {
  const timing = (await postImage(service, file)).headers.get('server-timing');
  for (const stage of ['upload', 'prepare', 'queue', 'inference', 'decode', 'matte', 'encode', 'total']) {
    expect(timing).toMatch(new RegExp(`(^|, )${stage};dur=\\d+\\.\\d`));
  }
});

test('only POST is answered', async () => {
  const response = await fetch(service.endpoint);
  expect(response.headers.get('allow')).toBe('POST');
  expect(await problemOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' });
});
