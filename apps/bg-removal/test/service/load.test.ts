import http from 'node:http';
import { once } from 'node:events';
import { picture } from '../support/pictures.js';
import {
  fakeInference,
  health,
  healthUntil,
  postImage,
  problemOf,
  startWarmService,
  type TestService,
} from '../support/service.js';

let service: TestService | undefined;
let file: Buffer;
beforeAll(async () => {
  file = await picture().png().toBuffer();
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** Waits until an image is being processed, then stops its process. The returned function resumes it. */
async function holdInference(running: TestService): Promise<() => void> {
  await healthUntil(running, ({ body }) => body.checks['engine']?.['active'] === 1);
  const [pid = 0] = running.enginePids();
  process.kill(pid, 'SIGSTOP');
  return () => process.kill(pid, 'SIGCONT');
}

test('each of 50 simultaneous uploads gets an image or a 503 with Retry-After, and the service stays healthy', async () => {
  service = await startWarmService({ IMAGE_QUEUE_MAX: '4', TRUST_PROXY_HOPS: '1' }, fakeInference('slow'));
  const running = service;
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      postImage(running, file, { headers: { 'x-forwarded-for': `203.0.113.${i}` } }),
    ),
  );
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(5);
  for (const response of responses) {
    if (response.status === 200) {
      expect((response.body as Buffer).length).toBeGreaterThan(100);
      continue;
    }
    expect(response.get('retry-after')).toMatch(/^\d+$/);
    expect(problemOf(response)).toMatchObject({ status: 503, code: 'overloaded' });
  }
  expect((await postImage(service, file)).status).toBe(200);
  expect((await health(service)).status).toBe(200);
});

test('a client that disconnects leaves the queue', async () => {
  service = await startWarmService({ IMAGE_QUEUE_MAX: '2', PIXEL_PROCESSES: '2' }, fakeInference('slow'));
  const running = service;
  const abort = new AbortController();
  const first = postImage(service, file);
  const goOn = await holdInference(service);
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(file)]), 'picture.png');
  const gone = fetch(service.endpoint, { method: 'POST', body: form, signal: abort.signal });
  await healthUntil(service, ({ body }) => body.checks['engine']?.['queueLength'] === 1);
  abort.abort();
  await expect(gone).rejects.toThrow('abort');
  await healthUntil(running, ({ body }) => body.checks['engine']?.['queueLength'] === 0);
  goOn();
  expect((await first).status).toBe(200);
  expect((await postImage(service, file)).status).toBe(200);
});

test('an upload that never ends is aborted at the deadline', async () => {
  service = await startWarmService({ IMAGE_TIMEOUT_SECONDS: '1' }, fakeInference('slow'));
  const request = http.request(service.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '1000' },
  });
  request.write('--x\r\n');
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(response.statusCode).toBe(504);
  request.destroy();
});

test('health responds during an inference', async () => {
  service = await startWarmService({}, fakeInference('slow'));
  const pending = postImage(service, file);
  const goOn = await holdInference(service);
  expect((await health(service)).status).toBe(200);
  goOn();
  expect((await pending).status).toBe(200);
});
