import { fork } from 'node:child_process';
import { once } from 'node:events';

/** The same network, options and input size in a process that does nothing else. */
export async function bareInference() {
  const child = fork(new URL('./bare-process.mjs', import.meta.url), { serialization: 'advanced' });
  await once(child, 'message');
  return {
    /** @returns {Promise<number>} milliseconds of one run */
    async run() {
      child.send('run');
      const [ms] = await once(child, 'message');
      return ms;
    },
    stop: () => child.disconnect(),
  };
}
