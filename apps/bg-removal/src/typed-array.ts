import { z } from 'zod';

/**
 * Accepts one kind of typed array. Checks the tag instead of using `instanceof`, because
 * messages come from another process and may be read in another realm.
 */
export function typedArray<T extends ArrayBufferView>(tag: string): z.ZodType<T> {
  return z.custom<T>(
    (value) => Object.prototype.toString.call(value) === `[object ${tag}]`,
    `must be a ${tag}`,
  );
}
