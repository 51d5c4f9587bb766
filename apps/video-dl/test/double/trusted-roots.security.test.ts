import { existsSync } from 'node:fs';
import { startBehind, watchPage } from './shapes.js';
import { Double } from '@media-services/fault-site/double';

it("trusts the operator's authorities and public ones, but no others", async () => {
  await using double = await Double.start();
  await using strict = await startBehind(double, { TRUSTED_ROOTS_FILE: '' });
  const { body } = await strict.info(watchPage('files'));
  expect(body).toMatchObject({ code: 'upstream_unreachable' });
  expect(double.requests).toEqual([]);
});

it('deletes its list of authorities', async () => {
  await using double = await Double.start();
  const service = await startBehind(double, {}, { cold: true });
  const file = service.context.trustedRoots?.file ?? '';
  expect(existsSync(file)).toBe(true);
  await service[Symbol.asyncDispose]();
  expect(existsSync(file)).toBe(false);
});
