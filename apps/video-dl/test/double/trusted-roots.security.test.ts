import { existsSync } from 'node:fs';
import { startBehind } from './start-behind.js';
import { Double } from '@media-services/fault-site/double';
import { watchPage } from './shapes.js';

it('trusts the authorities of the operator, and no others that are not public', async () => {
  await using double = await Double.start();
  await using strict = await startBehind(double, { TRUSTED_ROOTS_FILE: '' });
  const { body } = await strict.info(watchPage('files'));
  expect(body).toMatchObject({ code: 'upstream_unreachable' });
  expect(double.requests).toEqual([]);
});

it('leaves nothing of its list of authorities behind', async () => {
  await using double = await Double.start();
  const service = await startBehind(double, {}, { cold: true });
  const file = service.context.trustedRoots?.file ?? '';
  expect(existsSync(file)).toBe(true);
  await service[Symbol.asyncDispose]();
  expect(existsSync(file)).toBe(false);
});
