import { execa } from 'execa';
import { z } from 'zod';
import { peakMiB, residentMiB } from './memory.mjs';

const runSchema = z.object({ ms: z.number() });

/**
 * A contender in a process of its own: it says `{"ready":true}` in a line of standard output
 * when it is warm, then takes the path of a picture a line and answers each with `{"ms": …}`.
 * @param {string} name
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 */
export async function lineProcess(name, file, args, options = {}) {
  const child = execa(file, args, { ...options, stdin: 'pipe', stderr: 'inherit', buffer: false });
  const lines = child.iterable();
  const answer = async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${name} ended before it answered`);
      // Libraries print what they like besides.
      if (value.startsWith('{')) return /** @type {unknown} */ (JSON.parse(value));
    }
  };
  await answer();
  return {
    name,
    /** @param {import('./turns.mjs').Picture} picture */
    async run(picture) {
      child.stdin.write(`${picture.file}\n`);
      return runSchema.parse(await answer());
    },
    peakMiB: () => peakMiB(child.pid),
    residentMiB: () => residentMiB(child.pid),
    async stop() {
      child.stdin.end();
      await child;
    },
  };
}
