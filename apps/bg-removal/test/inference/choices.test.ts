import {
  chooseDevice,
  choosePrecision,
  inferenceCapacity,
  requireMemory,
} from '../../src/inference/choices.js';

const gibibyte = 1024 ** 3;

describe('precision', () => {
  const model = { hasInt8Graph: true, onCpu: true, hasAvx2: true, fitsFp32: true };

  test('auto means int8 on a processor with AVX2, fp32 elsewhere', () => {
    expect(choosePrecision('auto', model)).toBe('int8');
    expect(choosePrecision('auto', { ...model, hasAvx2: false })).toBe('fp32');
  });

  test('auto never means int8 on a GPU or for a model without an int8 graph', () => {
    expect(choosePrecision('auto', { ...model, onCpu: false })).toBe('fp32');
    expect(choosePrecision('auto', { ...model, hasInt8Graph: false })).toBe('fp32');
  });

  test('auto means int8 when fp32 does not fit into memory', () => {
    expect(choosePrecision('auto', { ...model, hasAvx2: false, fitsFp32: false })).toBe('int8');
    expect(choosePrecision('auto', { ...model, hasInt8Graph: false, fitsFp32: false })).toBe('fp32');
  });

  test('an explicit setting wins', () => {
    expect(choosePrecision('fp32', model)).toBe('fp32');
    expect(choosePrecision('int8', { ...model, hasAvx2: false })).toBe('int8');
  });

  test('rejects int8 if the model or the device cannot run it', () => {
    expect(() => choosePrecision('int8', { ...model, hasInt8Graph: false })).toThrow(
      /INFERENCE_PRECISION.*no int8 graph/,
    );
    expect(() => choosePrecision('int8', { ...model, onCpu: false })).toThrow(/CPU only/);
  });
});

describe('device', () => {
  const { signal } = new AbortController();
  const works = () => Promise.resolve(undefined);
  const fails = () => Promise.resolve('no CUDA library');

  test('cpu never looks for a GPU', async () => {
    const look = () => Promise.reject(new Error('looked'));
    await expect(chooseDevice('cpu', 'graph', look, signal)).resolves.toBe('cpu');
  });

  test('auto uses a working GPU, otherwise the CPU', async () => {
    await expect(chooseDevice('auto', 'graph', works, signal)).resolves.toBe('cuda');
    await expect(chooseDevice('auto', 'graph', fails, signal)).resolves.toBe('cpu');
  });

  test('cuda fails instead of falling back if it does not work', async () => {
    await expect(chooseDevice('cuda', 'graph', works, signal)).resolves.toBe('cuda');
    await expect(chooseDevice('cuda', 'graph', fails, signal)).rejects.toThrow(
      /INFERENCE_DEVICE is cuda.*no CUDA library.*auto or cpu/,
    );
  });
});

describe('capacity', () => {
  test.each([
    [1, 2, 'fp32', { processes: 1, threadsPerProcess: 1 }],
    [2, 24, 'fp32', { processes: 1, threadsPerProcess: 2 }],
    [6, 24, 'fp32', { processes: 1, threadsPerProcess: 6 }],
    [8, 24, 'fp32', { processes: 2, threadsPerProcess: 4 }],
    [32, 64, 'fp32', { processes: 8, threadsPerProcess: 4 }],
    [32, 8, 'fp32', { processes: 2, threadsPerProcess: 16 }],
    [32, 8, 'int8', { processes: 6, threadsPerProcess: 5 }],
    [16, 1, 'int8', { processes: 1, threadsPerProcess: 16 }],
  ] as const)('%i cores and %i GiB in %s', (cores, gibibytes, precision, expected) => {
    const machine = { cores, memoryBytes: gibibytes * gibibyte };
    expect(inferenceCapacity('auto', precision, machine)).toEqual(expected);
  });

  test('reports too little memory for the model and how to fix it', () => {
    expect(() => requireMemory('fp32', 1.7 * gibibyte)).not.toThrow();
    expect(() => requireMemory('fp32', gibibyte)).toThrow(/needs 1690 MiB .*1024 MiB .*int8/);
    expect(() => requireMemory('int8', gibibyte)).not.toThrow();
    expect(() => requireMemory('int8', 0.5 * gibibyte)).toThrow(/needs 871 MiB .*512 MiB/);
  });

  test('an explicit number of processes shares the cores', () => {
    const machine = { cores: 16, memoryBytes: 64 * gibibyte };
    expect(inferenceCapacity(3, 'fp32', machine)).toEqual({ processes: 3, threadsPerProcess: 5 });
    expect(inferenceCapacity(20, 'fp32', machine)).toEqual({ processes: 20, threadsPerProcess: 1 });
  });
});
