/**
 * The bare network of the service in a process that does nothing else, in the precision that
 * is the argument: a run for every line on standard input, `{"ms": …}` a line on standard output.
 */
import { createInterface } from 'node:readline';
import { precisions } from '@media-services/bg-removal/dist/inference/choices.js';
import { z } from 'zod';
import { openNetwork } from '../matting/network.js';

const network = await openNetwork({ precision: z.enum(precisions).parse(process.argv[2]) });
const { width, height } = network.inputSize;
const rgb = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 31) % 256);
process.stdout.write('{"ready":true}\n');
createInterface({ input: process.stdin }).on('line', () => {
  void network.session.run(rgb).then(({ inferenceMs }) => {
    process.stdout.write(`${JSON.stringify({ ms: inferenceMs })}\n`);
  });
});
