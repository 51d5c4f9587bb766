/** Where weights come from. */
export type WeightsSource =
  | {
      readonly kind: 'npm-package';
      readonly package: string;
      readonly version: string;
      /** The key of the weights in the package's `dist/resources.json`. */
      readonly resource: string;
      readonly sha256: string;
    }
  | { readonly kind: 'hub'; readonly repository: string; readonly dtype: 'fp32' | 'fp16' };

/** What the network's input is made like: squashed to `inputSize`, scaled to 0-1, `(value - mean) / std`. */
export interface Preprocessing {
  readonly inputSize: { readonly width: number; readonly height: number };
  readonly mean: [number, number, number];
  readonly std: [number, number, number];
}

/** A model that set-up can install. */
export interface ModelRecipe extends Preprocessing {
  readonly id: string;
  readonly source: WeightsSource;
  /** The only output that is wanted. */
  readonly outputName: string;
}

/** What {@link installModel} has put into the folder. */
export interface InstalledModel extends Preprocessing {
  /** The ONNX file, relative to the folder. */
  readonly graph: string;
  /** SHA-256 of every file, by path relative to the folder. */
  readonly files: Readonly<Record<string, string>>;
}
