import type { CallOptions } from './inputs.js';

export function isBefore51(tools: CallOptions): boolean {
  const [major, minor] = versionOf(tools);
  return major < 5 || (major === 5 && minor < 1);
}

export function versionOf({ version = '9' }: CallOptions): readonly [number, number] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return [major, minor];
}
