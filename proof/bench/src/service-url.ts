import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';

const logLineSchema = z.object({ url: z.string().optional() });

/** The URL that a service names in its log once it listens. */
export function urlFrom(log: Readable): Promise<string> {
  const lines = createInterface({ input: log });
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const { url } = logLineSchema.parse(JSON.parse(line));
      if (url !== undefined) resolve(url);
    });
    lines.once('close', () => reject(new Error('the service did not start')));
  });
}
