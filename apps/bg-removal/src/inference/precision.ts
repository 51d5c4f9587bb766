import { readFile } from 'node:fs/promises';
import { ModelError } from '../model/model-error.js';

export const precisions = ['int8', 'fp32'] as const;
export type Precision = (typeof precisions)[number];
export const precisionSettings = ['auto', ...precisions] as const;

/**
 * Which of the model's graphs to run.
 * @throws ModelError when int8 is requested and the model or the device does not support it
 */
export function choosePrecision(
  wanted: (typeof precisionSettings)[number],
  {
    hasInt8Graph,
    onCpu,
    hasAvx2,
    fitsFp32,
  }: { hasInt8Graph: boolean; onCpu: boolean; hasAvx2: boolean; fitsFp32: boolean },
): Precision {
  if (wanted === 'int8' && !(hasInt8Graph && onCpu)) {
    throw new ModelError(
      `INFERENCE_PRECISION is int8, but ${hasInt8Graph ? 'the int8 graph runs on a CPU only' : 'this model has no int8 graph'}. Set it to auto or fp32.`,
    );
  }
  if (wanted !== 'auto') return wanted;
  return hasInt8Graph && onCpu && (hasAvx2 || !fitsFp32) ? 'int8' : 'fp32';
}

/**
 * Whether this is an x86-64 processor with AVX2. There int8 was measured 1.8 times as fast as
 * fp32, and three times with VNNI. Other processors have not been measured.
 */
export async function hasAvx2(): Promise<boolean> {
  try {
    return /^flags\s*:.*\bavx2\b/m.test(await readFile('/proc/cpuinfo', 'utf8'));
  } catch {
    // Not Linux.
    return false;
  }
}
