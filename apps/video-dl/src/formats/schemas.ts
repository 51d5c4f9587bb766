import { isFloat64Array, isUint8Array } from 'node:util/types';
import { z } from 'zod';

/**
 * What the results of parser processes consist of. A hostile input may have taken over its process, so every result
 * is checked against a schema, from which its type derives.
 */

/** The most entries of a list in a result. */
export const maxRows = 1_000_000;

export const count = z.int().nonnegative();
export const numberOrNull = z.number().nullable();
export const shortText = z.string().max(200);
export const numbers = numbersUpTo(maxRows);

export function numbersUpTo(maxNumbers: number) {
  return z.custom<Float64Array>((value) => isFloat64Array(value) && value.length <= maxNumbers);
}

export function bytesUpTo(maxBytes: number) {
  return z.custom<Uint8Array>((value) => isUint8Array(value) && value.length <= maxBytes);
}
