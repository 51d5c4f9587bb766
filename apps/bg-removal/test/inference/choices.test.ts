import { inferenceCapacity } from '../../dist/inference/capacity.js';
import { chooseDevice } from '../../dist/inference/device.js';
import { choosePrecision } from '../../dist/inference/precision.js';

const gibibyte = 1024 ** 3;
const flags = (...names: string[]): ReadonlySet<string> => new Set(names);

describe('precision', () => {
  const model = { hasInt8Graph: true, onCpu: true };

  test.each([
    ['a processor with AVX-VNNI', 'avx_vnni', 'int8'],
    ['a processor with AVX-512 VNNI', 'avx512_vnni', 'int8'],
    ['a processor with AVX2 only', 'avx2', 'fp32'],
    ['a processor that is not known', '', 'fp32'],
  ])('auto on %s', (_, flag, expected) => {
    expect(choosePrecision('auto', { ...model, cpuFlags: flags(flag) })).toBe(expected);
  });

  test('auto never takes eight bits on a GPU, nor of a model without them', () => {
    const cpuFlags = flags('avx512_vnni');
    expect(choosePrecision('auto', { hasInt8Graph: true, onCpu: false, cpuFlags })).toBe('fp32');
    expect(choosePrecision('auto', { hasInt8Graph: false, onCpu: true, cpuFlags })).toBe('fp32');
  });

  test('what is asked for is taken', () => {
    expect(choosePrecision('fp32', { ...model, cpuFlags: flags('avx_vnni') })).toBe('fp32');
    expect(choosePrecision('int8', { ...model, cpuFlags: flags() })).toBe('int8');
  });

  test('eight bits that cannot be had are refused', () => {
    const cpuFlags = flags('avx_vnni');
    expect(() => choosePrecision('int8', { hasInt8Graph: false, onCpu: true, cpuFlags })).toThrow(
      /no graph in eight bits.*INFERENCE_PRECISION|INFERENCE_PRECISION.*no graph in eight bits/,
    );
    expect(() => choosePrecision('int8', { hasInt8Graph: true, onCpu: false, cpuFlags })).toThrow(
      /processor only/,
    );
  });
});

describe('device', () => {
  const { signal } = new AbortController();
  const works = () => Promise.resolve(undefined);
  const fails = () => Promise.resolve('no CUDA library');

  test('cpu does not even look for a GPU', async () => {
    const look = () => Promise.reject(new Error('looked'));
    await expect(chooseDevice('cpu', 'graph', look, signal)).resolves.toBe('cpu');
  });

  test('auto takes a GPU that works, else the processor', async () => {
    await expect(chooseDevice('auto', 'graph', works, signal)).resolves.toBe('cuda');
    await expect(chooseDevice('auto', 'graph', fails, signal)).resolves.toBe('cpu');
  });

  test('cuda is refused, and not replaced, when it does not work', async () => {
    await expect(chooseDevice('cuda', 'graph', works, signal)).resolves.toBe('cuda');
    await expect(chooseDevice('cuda', 'graph', fails, signal)).rejects.toThrow(
      /INFERENCE_DEVICE is cuda.*no CUDA library.*auto or cpu/,
    );
  });
});

describe('capacity', () => {
  const auto = { processes: 'auto', threads: 'auto' } as const;

  test.each([
    [1, 2, { processes: 1, threadsPerProcess: 1 }],
    [2, 24, { processes: 1, threadsPerProcess: 2 }],
    [6, 24, { processes: 1, threadsPerProcess: 6 }],
    [8, 24, { processes: 2, threadsPerProcess: 4 }],
    [32, 64, { processes: 8, threadsPerProcess: 4 }],
    [32, 8, { processes: 2, threadsPerProcess: 16 }],
    [16, 1, { processes: 1, threadsPerProcess: 16 }],
  ])('%i cores and %i GiB', (cores, gibibytes, expected) => {
    expect(inferenceCapacity(auto, { cores, memoryBytes: gibibytes * gibibyte })).toEqual(expected);
  });

  test('what is given is taken, and the other follows from it', () => {
    const machine = { cores: 16, memoryBytes: 64 * gibibyte };
    expect(inferenceCapacity({ processes: 3, threads: 'auto' }, machine)).toEqual({
      processes: 3,
      threadsPerProcess: 5,
    });
    expect(inferenceCapacity({ processes: 'auto', threads: 2 }, machine)).toEqual({
      processes: 8,
      threadsPerProcess: 2,
    });
    expect(inferenceCapacity({ processes: 5, threads: 7 }, machine)).toEqual({
      processes: 5,
      threadsPerProcess: 7,
    });
  });
});
