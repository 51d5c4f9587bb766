import { once } from 'node:events';
import http from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
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

describe('an inference process', () => {
  let running: TestService;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'fake-inference-'));
    behave('slow');
    running = await startWarmService({}, fakeInference(path.join(folder, 'behaviour')));
  });
  afterAll(async () => {
    await running.stop();
    rmSync(folder, { recursive: true });
  });

  /** Selects what later jobs do. */
  const behave = (behaviour: string) => writeFileSync(path.join(folder, 'behaviour'), behaviour);

  async function expectUnavailable(pending: ReturnType<typeof postImage>): Promise<void> {
    const response = await pending;
    expect(response.get('retry-after')).toBeDefined();
    expect(problemOf(response)).toMatchObject({ status: 503, code: 'engine_unavailable' });
  }

  async function expectNextWorks(): Promise<void> {
    behave('slow');
    expect((await postImage(running, file)).status).toBe(200);
  }

  test('killed during a job fails only that request', async () => {
    behave('stall');
    const pending = postImage(running, file);
    await healthUntil(running, ({ body }) => body.checks['engine']?.['active'] === 1);
    const [pid = 0] = running.enginePids();
    process.kill(pid, 'SIGKILL');
    await expectUnavailable(pending);
    await expectNextWorks();
    expect(running.enginePids()).not.toContain(pid);
  });

  test('that runs out of memory fails only that request', async () => {
    behave('out-of-memory');
    await expectUnavailable(postImage(running, file));
    await expectNextWorks();
  });

  test('that crashes on every image never stops the service', async () => {
    behave('crash');
    for (let i = 0; i < 2; i++) await expectUnavailable(postImage(running, file));
    expect((await health(running)).body.checks['engine']).toHaveProperty('restarts');
    await expectNextWorks();
  });

  test('whose result is not a mask fails only that image', async () => {
    behave('garbage');
    const [pid] = running.enginePids();
    expect(problemOf(await postImage(running, file))).toMatchObject({ status: 500, code: 'internal_error' });
    expect((await health(running)).status).toBe(200);
    expect(running.enginePids()).toEqual([pid]);
  });

  test("that fails does not show the network's error message to the client", async () => {
    behave('fails');
    const problem = problemOf(await postImage(running, file));
    expect(problem).toMatchObject({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(problem)).not.toContain('secret');
  });
});

test('a job that stalls and an upload that never ends are aborted at the deadline, the process is replaced, and the next image works', async () => {
  // Its process may go on for as long as that again.
  service = await startWarmService(
    { IMAGE_TIMEOUT_SECONDS: '4', IMAGES_PER_MINUTE: '3' },
    fakeInference('stall', 'slow'),
  );
  const [pid] = service.enginePids();
  const upload = http.request(service.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '1000' },
  });
  upload.write('--x\r\n');
  const answered = once(upload, 'response') as Promise<[http.IncomingMessage]>;
  expect(problemOf(await postImage(service, file))).toMatchObject({ status: 504, code: 'timeout' });
  expect((await answered)[0].statusCode).toBe(504);
  upload.destroy();
  await healthUntil(service, () => service?.enginePids().every((now) => now !== pid) ?? false);
  const next = await postImage(service, file);
  expect(next.status).toBe(200);
  // The upload that never ended does not count.
  expect(next.get('ratelimit')).toMatch(/; r=1; /);
});
