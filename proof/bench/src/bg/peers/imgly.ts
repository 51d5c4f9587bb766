/**
 * Removes backgrounds with @imgly/background-removal-node, whose module is the argument:
 * a file a line on standard input, `{"ms": …}` a line on standard output.
 */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

const { removeBackground } = z
  .object({
    removeBackground: z.function({
      input: [z.instanceof(Blob), z.object({ model: z.literal('medium') })],
      output: z.promise(z.instanceof(Blob)),
    }),
  })
  .parse(await import(pathToFileURL(process.argv[2] ?? '').href));
process.stdout.write('{"ready":true}\n');
for await (const file of createInterface({ input: process.stdin })) {
  const image = new Blob([await readFile(file)], { type: 'image/jpeg' });
  const startedAt = performance.now();
  await (await removeBackground(image, { model: 'medium' })).arrayBuffer();
  process.stdout.write(`${JSON.stringify({ ms: performance.now() - startedAt })}\n`);
}
