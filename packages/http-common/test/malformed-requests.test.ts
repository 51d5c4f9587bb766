import { rawRequest, startTestService, type TestService } from './support/http.js';

let service: TestService['service'];
beforeEach(async () => {
  ({ service } = await startTestService());
});
afterEach(async () => {
  await service.stop();
});

it.each([
  ['an address of 20 kB', `GET /api/hello?x=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['what is no HTTP', 'HELO test\r\n\r\n'],
  ['a broken header', 'GET /api/hello HTTP/1.1\r\nHost: test\r\nno colon\r\n\r\n'],
])('%s is answered with a problem', async (_name, request) => {
  const { text } = await rawRequest(service.url, request);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).toMatch(/content-type: application\/problem\+json/i);
  expect(JSON.parse(body)).toMatchObject({ code: 'invalid_request', status: 400 });
});

it('garbage behind a request whose answer is under way cuts the connection, and is not answered into it', async () => {
  const { text } = await rawRequest(
    service.url,
    'GET /api/endless HTTP/1.1\r\nHost: test\r\n\r\nno HTTP at all\r\n\r\n',
  );
  expect(text).not.toContain('invalid_request');
});
