import { readFileSync } from 'node:fs';
import { kernelParameters } from '../../src/matte/kernel-parameters.js';

/** Name and parameters of each function that the build exports. */
function built(): Record<string, string> {
  const types = readFileSync(new URL('../../data/kernels.d.ts', import.meta.url), 'utf8');
  const functions = [...types.matchAll(/export function (\w+)\(([^)]*)\)/g)];
  return Object.fromEntries(
    functions.map(([, name = '', list = '']) => [name, list.replaceAll(/: \w+\??,?/g, '')]),
  );
}

test('kernels get their arguments in the order of the build', () => {
  expect(Object.keys(built()).length).toBeGreaterThan(20);
  expect(kernelParameters).toEqual(built());
});
