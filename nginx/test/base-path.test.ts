import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ env: { BASE_PATH: '/tools/media', VIDEO_REQUESTS_PER_MINUTE: '0' } });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const askedFor = async (path: string) =>
  ((await (await fetch(gateway.url + path)).json()) as { url: string }).url;

test('what is at the root is below the base path too, whether the proxy in front takes it away or not', async () => {
  for (const prefix of ['', '/tools/media']) {
    expect(await askedFor(`${prefix}/api/info?url=a%2Fb`)).toBe('/api/info?url=a%2Fb');
    expect(await askedFor(`${prefix}/video-dl/api/info?url=x`)).toBe('/api/info?url=x');
    expect(await (await fetch(`${gateway.url}${prefix}/docs/video-dl.openapi.json`)).json()).toHaveProperty(
      'openapi',
    );
    expect((await fetch(`${gateway.url}${prefix}/`)).headers.get('content-type')).toContain('text/html');
  }
});

test.each([
  ['/tools/media', '/tools/media/'],
  ['/tools/media/docs', '/tools/media/docs/'],
])('%s leads to %s', async (path, location) => {
  const response = await fetch(gateway.url + path, { redirect: 'manual' });
  expect(response.headers.get('location')).toBe(location);
});

test('the type of a problem leads below it', async () => {
  const problem = await expectProblem(await fetch(`${gateway.url}/tools/media/nope`), 404, 'not_found');
  expect(problem.type).toBe('/tools/media/docs/errors#not-found');
});

test('the locations that nginx uses itself cannot be asked for there either', async () => {
  for (const path of [
    '/internal/health/video-dl',
    '/internal/preflight',
    '//internal/preflight',
    '/%69nternal/preflight',
  ]) {
    await expectProblem(await fetch(`${gateway.url}/tools/media${path}`), 404, 'not_found');
    await expectProblem(await fetch(`${gateway.url}${path}`), 404, 'not_found');
  }
});
