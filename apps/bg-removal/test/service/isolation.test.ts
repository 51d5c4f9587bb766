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

async function untilActive(running: TestService): Promise<void> {
  await healthUntil(running, ({ body }) => body.checks['engine']?.['active'] === 1);
}

test('an inference process killed during a job fails only that request', async () => {
  service = await startWarmService({}, fakeInference('stall', 'slow'));
  const pending = postImage(service, file);
  await untilActive(service);
  const [pid = 0] = service.enginePids();
  process.kill(pid, 'SIGKILL');
  const response = await pending;
  expect(response.get('retry-after')).toBeDefined();
  expect(problemOf(response)).toMatchObject({ status: 503, code: 'engine_unavailable' });
  expect((await postImage(service, file)).status).toBe(200);
  expect(service.enginePids()).not.toContain(pid);
});

test('an inference process that runs out of memory fails only that request', async () => {
  service = await startWarmService({}, fakeInference('out-of-memory', 'slow'));
  expect(problemOf(await postImage(service, file))).toMatchObject({
    status: 503,
    code: 'engine_unavailable',
  });
  expect((await postImage(service, file)).status).toBe(200);
});

test('an inference process that crashes on every image never stops the service', async () => {
  service = await startWarmService({}, fakeInference('crash'));
  for (let i = 0; i < 2; i++) {
    expect(problemOf(await postImage(service, file))).toMatchObject({
      status: 503,
      code: 'engine_unavailable',
    });
  }
  expect((await health(service)).body.checks['engine']).toHaveProperty('restarts');
});

test('a job that stalls ends at the deadline, its process is replaced, and the next image works', async () => {
  service = await startWarmService({ IMAGE_TIMEOUT_SECONDS: '10' }, fakeInference('stall', 'slow'));
  const [pid] = service.enginePids();
  expect(problemOf(await postImage(service, file))).toMatchObject({ status: 504, code: 'timeout' });
  await healthUntil(service, () => service?.enginePids().every((now) => now !== pid) ?? false);
  expect((await postImage(service, file)).status).toBe(200);
});

test('a result that is not a mask fails only that image', async () => {
  service = await startWarmService({}, fakeInference('garbage'));
  const [pid] = service.enginePids();
  expect(problemOf(await postImage(service, file))).toMatchObject({
    status: 500,
    code: 'internal_error',
  });
  expect((await health(service)).status).toBe(200);
  expect(service.enginePids()).toEqual([pid]);
});

test("the network's error message is not shown to the client", async () => {
  service = await startWarmService({}, fakeInference('fails'));
  const problem = problemOf(await postImage(service, file));
  expect(problem).toMatchObject({ status: 500, code: 'internal_error' });
  expect(JSON.stringify(problem)).not.toContain('secret');
});

test('stopping ends the inference process', async () => {
  service = await startWarmService();
  const [pid = 0] = service.enginePids();
  await service.stop();
  service = undefined;
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
