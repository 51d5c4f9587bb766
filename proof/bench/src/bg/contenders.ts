import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Precision } from '@media-services/bg-removal/dist/inference/choices.js';
import { lineProcess, type LineProcess } from './line-process.js';
import type { Service } from './service.js';
import type { Contender } from './turns.js';

/** Complete requests to a service. */
export function requests(service: Service): Contender {
  return {
    name: `request, ${service.precision}`,
    async run({ file }) {
      const { status, ms, stages } = await service.request(Uint8Array.from(await readFile(file)));
      if (status !== 200) throw new Error(`the service returned HTTP ${status}`);
      return { ms, stages };
    },
    peakMiB: async () => Math.max(...(await service.peakMiB()).inference),
    stop: () => service.stop(),
  };
}

/** Only the service's network, in a separate process; the image does not matter. */
export function bareNetwork(precision: Precision, model?: string): Promise<LineProcess> {
  const script = fileURLToPath(new URL('bare-process.js', import.meta.url));
  const name = ['network', model, precision].filter((part) => part !== undefined).join(', ');
  return lineProcess(
    name,
    process.execPath,
    [script, precision],
    model === undefined ? {} : { env: { MODEL: model } },
  );
}
