import { execa } from 'execa';
import { z } from 'zod';
import { peakMiB, residentMiB } from './memory.js';
import type { Contender, Picture } from './turns.js';

const runSchema = z.object({ ms: z.number() });

export interface LineProcess extends Contender {
  residentMiB(): Promise<number>;
}

/**
 * A contender in a separate process. It prints the line `{"ready":true}` when it is warm, then
 * reads one image path per line and prints `{"ms": …}` for each.
 */
export async function lineProcess(
  name: string,
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<LineProcess> {
  const child = execa(file, args, { ...options, stdin: 'pipe', stderr: 'inherit', buffer: false });
  const lines = child.iterable();
  const answer = async (): Promise<unknown> => {
    for (;;) {
      const line: IteratorResult<string, unknown> = await lines.next();
      if (line.done === true) throw new Error(`${name} ended before it responded`);
      // Ignore other output of libraries.
      if (line.value.startsWith('{')) return JSON.parse(line.value);
    }
  };
  await answer();
  return {
    name,
    async run(picture: Picture) {
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
