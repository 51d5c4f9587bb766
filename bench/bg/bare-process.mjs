import { openModel } from '../matting/pipeline.mjs';

const model = await openModel();
const { width, height } = model.manifest.inputSize;
const scene = { width, height, composite: new Uint8Array(width * height * 3).map((_, i) => (i * 31) % 256) };
await model.mask(scene);
process.on('message', async () => {
  const { inferenceMs } = await model.mask(scene);
  process.send(inferenceMs);
});
process.send('ready');
