import { execa } from 'execa';
import { z } from 'zod';
import { peakMiB, residentMiB } from './memory.js';
import type { Contender, Picture } from './turns.js';

const runSchema = z.object({ ms: z.number() });

export interface LineProcess extends Contender {
  residentMiB(): Promise<number>;
}

/**
 * A contender in a process of its own: it says `{"ready":true}` in a line of standard output
 * when it is warm, then takes the path of a picture a line and answers each with `{"ms": …}`.
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
      if (line.done === true) throw new Error(`${name} ended before it answered`);
      // Libraries print what they like besides.
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
