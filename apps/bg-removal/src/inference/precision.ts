import { readFile } from 'node:fs/promises';
import { ModelError } from '../model/model-error.js';

export const precisions = ['int8', 'fp32'] as const;
export type Precision = (typeof precisions)[number];
export const precisionSettings = ['auto', ...precisions] as const;

/**
 * Instructions of x86-64 that multiply and add eight-bit numbers in one step. With one of
 * them the eight-bit network was measured nearly three times as fast as the other; without,
 * onnxruntime takes two steps with a 16-bit sum in between that can overflow, so that it is
 * both slower and wrong in places. Other processors have not been measured.
 */
const fastInt8Flags = new Set(['avx_vnni', 'avx512_vnni']);

/**
 * Which of the model's graphs to run.
 * @throws ModelError when eight bits are asked for and the model or the device has no such graph
 */
export function choosePrecision(
  wanted: (typeof precisionSettings)[number],
  { hasInt8Graph, onCpu, cpuFlags }: { hasInt8Graph: boolean; onCpu: boolean; cpuFlags: ReadonlySet<string> },
): Precision {
  if (wanted === 'int8' && !(hasInt8Graph && onCpu)) {
    throw new ModelError(
      `INFERENCE_PRECISION is int8, but ${hasInt8Graph ? 'eight bits run on the processor only' : 'this model has no graph in eight bits'}. Set it to auto or fp32.`,
    );
  }
  if (wanted !== 'auto') return wanted;
  const fast = [...fastInt8Flags].some((flag) => cpuFlags.has(flag));
  return hasInt8Graph && onCpu && fast ? 'int8' : 'fp32';
}

/** The processor's features as Linux names them; none where it does not tell. */
export async function readCpuFlags(): Promise<ReadonlySet<string>> {
  try {
    const text = await readFile('/proc/cpuinfo', 'utf8');
    return new Set(/^flags\s*:(.*)$/m.exec(text)?.[1]?.trim().split(/\s+/));
  } catch {
    // Not Linux: the same as a processor without them.
    return new Set();
  }
}
