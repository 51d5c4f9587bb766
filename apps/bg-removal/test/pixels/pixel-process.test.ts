import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../dist/pixels/pixel-process.js', import.meta.url));

test('a pixel process ends with its parent, also with its second thread running', async () => {
  const settings = { maxMemoryBytes: 2 * 1024 ** 3, warmUpRounds: 0 };
  const child = fork(script, [JSON.stringify(settings)], { serialization: 'advanced' });
  await once(child, 'message');
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
