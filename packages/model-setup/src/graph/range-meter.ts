import type { ActivationRanges } from './activation-ranges.js';
import { outputOf } from './nodes.js';
import { dataType, type OnnxModel } from './onnx-schema.js';

/** Of all values of an activation, the share that its range holds; what is beyond is cut off. */
const heldShare = { positive: 0.9999, signed: 0.99999 };
/** Other pictures reach further than those that were measured. */
const headroom = 1.25;
/** One value in five: millions are enough, and five is no multiple of a layer's width. */
const sampleStride = 5;
const initialBins = 8192;

/**
 * Makes every activation that eight bits are laid over an output of the network.
 * Those are what convolutions give (behind their Relu, if they have one) and sums. Changes `model`.
 * @returns their names
 */
export function exposeActivations({ graph }: OnnxModel): string[] {
  const relus = new Map(
    graph.node.filter(({ opType }) => opType === 'Relu').map((node) => [node.input?.[0], outputOf(node)]),
  );
  const measured = graph.node.filter(({ opType }) => opType === 'Conv' || opType === 'Add');
  const names = measured.map((node) => relus.get(outputOf(node)) ?? outputOf(node));
  graph.output = names.map((name) => ({ name, type: { tensorType: { elemType: dataType.float32 } } }));
  return names;
}

/** Measures the ranges of activations over many images. */
export class RangeMeter {
  readonly #tensors = new Map<string, { positive: Histogram; negative: Histogram; count: number }>();

  add(tensor: string, values: Float32Array): void {
    let entry = this.#tensors.get(tensor);
    if (!entry)
      this.#tensors.set(tensor, (entry = { positive: new Histogram(), negative: new Histogram(), count: 0 }));
    const { positive, negative } = entry;
    for (let i = 0; i < values.length; i += sampleStride) {
      const value = values[i] ?? 0;
      if (value > 0) positive.add(value);
      else if (value < 0) negative.add(-value);
      entry.count++;
    }
  }

  ranges(): ActivationRanges {
    return Object.fromEntries(
      [...this.#tensors].map(([tensor, { positive, negative, count }]) => {
        const signed = negative.count > 0;
        const beyond = count * (1 - (signed ? heldShare.signed : heldShare.positive));
        const low = signed ? -negative.upperEnd(beyond) : 0;
        return [tensor, [low * headroom, positive.upperEnd(beyond) * headroom]];
      }),
    );
  }
}

/** Counts of positive values; the width of the bins doubles whenever a value does not fit. */
class Histogram {
  readonly #bins = new Float64Array(initialBins);
  #width = 2 ** -20;
  count = 0;

  add(value: number): void {
    while (value >= this.#width * initialBins) this.#widen();
    const bin = Math.floor(value / this.#width);
    this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
    this.count++;
  }

  /** The smallest bound that at most `beyond` values exceed. */
  upperEnd(beyond: number): number {
    let above = 0;
    for (let bin = initialBins - 1; bin >= 0; bin--) {
      above += this.#bins[bin] ?? 0;
      if (above > beyond) return (bin + 1) * this.#width;
    }
    return this.#width;
  }

  #widen(): void {
    for (let i = 0; i < initialBins; i++) {
      const source = 2 * i;
      this.#bins[i] = source < initialBins ? (this.#bins[source] ?? 0) + (this.#bins[source + 1] ?? 0) : 0;
    }
    this.#width *= 2;
  }
}
