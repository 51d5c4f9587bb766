import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { lineProcess } from './line-process.mjs';

/**
 * Whole requests to a service.
 * @param {import('./service.mjs').Service} service
 * @returns {import('./turns.mjs').Contender}
 */
export function requests(service) {
  return {
    name: `request, ${service.precision}`,
    async run({ file }) {
      const { status, ms, stages } = await service.request(Uint8Array.from(await readFile(file)));
      if (status !== 200) throw new Error(`the service answered ${status}`);
      return { ms, stages };
    },
    peakMiB: async () => Math.max(...(await service.peakMiB()).inference),
    stop: () => service.stop(),
  };
}

/**
 * The service's network alone, in a process that does nothing else; the picture does not matter.
 * @param {'int8' | 'fp32'} precision
 */
export function bareNetwork(precision) {
  const script = fileURLToPath(new URL('bare-process.mjs', import.meta.url));
  return lineProcess(`network, ${precision}`, process.execPath, [script, precision]);
}
