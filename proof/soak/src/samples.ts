import type { Footprint } from './footprint.js';

const MiB = 1024 ** 2;

/**
 * The memory that the documents give each container (docs/deployment.md), and a download
 * engine (ENGINE_MEMORY_MAX_BYTES), in bytes.
 */
const memoryLimits: readonly {
  readonly name: string;
  readonly parts: readonly string[];
  readonly bytes: number;
}[] = [
  { name: 'gateway', parts: ['gateway'], bytes: 256 * MiB },
  {
    name: 'video-dl with engines, parsers and ffmpeg',
    parts: ['video-dl', 'download engine', 'ffmpeg', 'parser'],
    bytes: 2048 * MiB,
  },
  { name: 'parser processes (two)', parts: ['parser'], bytes: 2 * 384 * MiB },
  { name: 'download engines (two)', parts: ['download engine'], bytes: 2 * 600 * MiB },
  { name: 'bg-removal with its processes', parts: ['bg-removal', 'inference', 'pixels'], bytes: 3072 * MiB },
];

/** Five minutes, at a sample each second. */
const minSamplesOfThird = 300;
/** V8 adapts its heap's size, so memory varies from minute to minute without growing. */
const maxGrowthFactor = 1.15;
const maxGrowthBytes = 32 * MiB;

/** A stack's resources, second by second. */
export class Samples {
  readonly #samples: Footprint[] = [];

  add(sample: Footprint): void {
    this.#samples.push(sample);
  }

  /** Limits that were exceeded. */
  excesses(): string[] {
    return memoryLimits.flatMap(({ name, parts, bytes }) => {
      const most = Math.max(0, ...this.#samples.map((sample) => memoryOf(sample, parts)));
      return most <= bytes ? [] : [`${name} took ${mebibytes(most)} MiB of ${mebibytes(bytes)} MiB`];
    });
  }

  /**
   * Services whose memory grew: the median of the last third is far above that of the middle
   * third. The first third is warm-up. Short runs have too few samples to tell.
   */
  growth(): string[] {
    const third = Math.floor(this.#samples.length / 3);
    if (third < minSamplesOfThird) return [];
    return ['gateway', 'video-dl', 'bg-removal'].flatMap((part) => {
      const medianOf = (samples: readonly Footprint[]) =>
        median(samples.map((sample) => memoryOf(sample, [part])));
      const middle = medianOf(this.#samples.slice(third, 2 * third));
      const last = medianOf(this.#samples.slice(2 * third));
      if (last <= middle * maxGrowthFactor + maxGrowthBytes) return [];
      return [`${part} grew from ${mebibytes(middle)} MiB to ${mebibytes(last)} MiB`];
    });
  }

  /** Rows with the part, start, median, maximum, end and limit. */
  rows(start: Footprint, end: Footprint): string[][] {
    const row = (name: string, measure: (sample: Footprint) => number, limit = '') => {
      const each = this.#samples.map(measure);
      return [name, ...[measure(start), median(each), Math.max(0, ...each), measure(end)].map(String), limit];
    };
    const parts = [...new Set(this.#samples.flatMap(({ memory }) => [...memory.keys()]))].toSorted();
    const memory = (names: readonly string[]) => (sample: Footprint) => mebibytes(memoryOf(sample, names));
    return [
      ...memoryLimits.map(({ name, parts: names, bytes }) =>
        row(`${name}, MiB`, memory(names), String(mebibytes(bytes))),
      ),
      ...['video-dl', 'bg-removal', 'inference', 'pixels'].map((name) =>
        row(`${name} alone, MiB`, memory([name])),
      ),
      ...parts.map((part) => row(`processes: ${part}`, ({ processes }) => processes.get(part) ?? 0)),
      row('sockets', ({ sockets }) => sockets),
      row('file descriptors', ({ descriptors }) => descriptors),
      row('temporary files', ({ temporaryFiles }) => temporaryFiles.length),
    ];
  }
}

/** Resources that did not exist at the start. */
export function leftOver(start: Footprint, end: Footprint): string[] {
  const parts = new Set([...start.processes.keys(), ...end.processes.keys()]);
  const counts = [...parts].map((part) => [
    `processes of ${part}`,
    start.processes.get(part) ?? 0,
    end.processes.get(part) ?? 0,
    part,
  ]);
  const found = counts
    .filter(([, before, after]) => before !== after)
    .map(([name, before, after]) => `${after} ${name} instead of ${before}`);
  if (end.sockets > start.sockets) found.push(`${end.sockets} sockets instead of ${start.sockets}`);
  if (end.descriptors > start.descriptors)
    found.push(`${end.descriptors} file descriptors instead of ${start.descriptors}`);
  const files = end.temporaryFiles.filter((file) => !start.temporaryFiles.includes(file));
  return [...found, ...files.map((file) => `the temporary file ${file}`)];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function memoryOf({ memory }: Footprint, parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + (memory.get(part) ?? 0), 0);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / MiB);
}
