import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeModel, type OnnxModel } from '@media-services/onnx-int8';
import { defaultModelId, defaultModelsDir, locateModel } from '../../src/model/known-models.js';
import { verifyModel } from '../../src/model/verify-model.js';

/**
 * The largest sum of two neighbouring weights of the same sign, in the kernels' reading order:
 * channels first, then positions. Independent of the quantiser's code.
 */
function largestPairs({ graph }: OnnxModel): Map<string, number> {
  const tensors = new Map((graph.initializer ?? []).map((tensor) => [tensor.name, tensor]));
  return new Map(
    graph.node
      .filter(({ opType }) => opType === 'QLinearConv')
      .map(({ name = '', input = [] }) => {
        const { dims: [filters = 0, channels = 0, ...sides] = [], rawData = [] } =
          tensors.get(input[3]) ?? {};
        const area = sides.reduce((product, side) => product * side, 1);
        const step = channels % 2 === 0 ? 2 : 1;
        const inOrder = new Int8Array(channels * area);
        let largest = 0;
        for (let filter = 0; filter < filters; filter++) {
          let k = 0;
          for (let position = 0; position < area; position++) {
            for (let channel = 0; channel < channels; channel++)
              inOrder[k++] = rawData[(filter * channels + channel) * area + position] ?? 0;
          }
          for (k = 0; k + 1 < inOrder.length; k += step) {
            const a = inOrder[k] ?? 0;
            const b = inOrder[k + 1] ?? 0;
            const sum = a > 0 && b > 0 ? a + b : a < 0 && b < 0 ? -a - b : 0;
            if (sum > largest) largest = sum;
          }
        }
        return [name, largest];
      }),
  );
}

// Processors without VNNI add two products in 16 bits: 255 × 128 fits, 255 × 129 does not.
test('no two neighbouring weights of the installed int8 graph can saturate', async () => {
  const { folder, manifest } = await verifyModel(locateModel(defaultModelId, defaultModelsDir));
  const graph = decodeModel(await readFile(path.join(folder, manifest.int8Graph ?? '')));
  const pairs = largestPairs(graph);
  expect(pairs.size).toBeGreaterThan(100);
  expect([...pairs].filter(([, sum]) => !(sum <= 128))).toEqual([]);
  // Filters use the full range, so the limit determines the scale and is not met by chance.
  expect([...pairs].filter(([, sum]) => sum > 110).length).toBeGreaterThan(pairs.size / 2);
});
