import type { ImageHeader, Refusal } from '../images/decode.js';
import type { Tuning } from '../matte/tuning.js';

/** What the pixel threads do: everything that touches whole images, so that the service's event loop never does. */
export type PixelTask = PrepareTask | CutOutTask;

export interface PrepareTask {
  readonly kind: 'prepare';
  readonly file: Uint8Array;
  readonly maxPixels: number;
  readonly inputSize: { readonly width: number; readonly height: number };
}

export type Prepared =
  { readonly header: ImageHeader; readonly rgb: Uint8Array } | { readonly refusal: Refusal };

export interface CutOutTask {
  readonly kind: 'cut-out';
  readonly file: Uint8Array;
  readonly mask: Float32Array;
  readonly maskWidth: number;
  readonly maskHeight: number;
  readonly tuning: Tuning;
}

export type CutOutResult =
  | {
      readonly png: Uint8Array;
      readonly width: number;
      readonly height: number;
      /** Milliseconds by stage. */
      readonly stages: Readonly<Record<'decode' | 'matte' | 'encode', number>>;
    }
  | { readonly refusal: Refusal | { readonly code: 'no_foreground' } };
