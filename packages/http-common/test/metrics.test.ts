import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createMetrics } from '../dist/index.js';

test('tells the version of the service', async () => {
  const { registry } = createMetrics({ service: 'test', version: '1.2.3' });
  expect(await registry.getSingleMetricAsString('media_build_info')).toMatch(
    /media_build_info\{version="1\.2\.3",node="v[\d.]+",service="test"\} 1/,
  );
});

test('counts the memory of the processes that the service starts, and forgets those that ended', async () => {
  const { registry } = createMetrics({ service: 'test' });
  const memory = () => registry.getSingleMetricAsString('media_child_memory_bytes');
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  let text = '';
  while (!/program="sleep",service="test"\} [1-9]\d{4,}/.test(text)) text = await memory();
  child.kill();
  await once(child, 'exit');
  expect(await memory()).not.toContain('program="sleep"');
});
