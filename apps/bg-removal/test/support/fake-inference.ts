import { fileURLToPath } from 'node:url';
import type { ServiceOverrides } from '../../dist/service.js';
import { tinySize } from './tiny-model.js';

const script = fileURLToPath(new URL('../fixtures/fake-inference.mjs', import.meta.url));

/** Starts the service with a misbehaving inference process. Later processes may behave differently. */
export function fakeInference(behaviour: string, later: string = behaviour): ServiceOverrides {
  let started = 0;
  return {
    command: () => ({
      file: process.execPath,
      args: ['--max-old-space-size=100', script, started++ === 0 ? behaviour : later, String(tinySize)],
    }),
  };
}
