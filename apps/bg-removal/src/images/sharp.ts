import { availableParallelism } from 'node:os';
import sharp from 'sharp';

// No image is processed twice, so a cache would only waste memory.
sharp.cache(false);
// With glibc, sharp would use one thread only.
sharp.concurrency(Math.min(2, availableParallelism()));

export { sharp };

/** Beginnings of libvips and sharp messages about files that they cannot decode. */
const imageFaults = [
  /^Input (buffer|file|image)/,
  /^(VipsJpeg|jpegload|VipsForeignLoad)/,
  /^(vipspng|pngload|spngload)/,
  /^webp/,
  // libspng's rejection of damaged pixels, for which sharp has no message.
  /^Unknown error$/,
];

/** Excludes `unable to write to target`, which an encoder to memory reports for damaged input. */
const systemFaults = /out of memory|cannot allocate|bad_alloc|unable to (open|start|write(?! to target))/i;

/**
 * Whether sharp's error is caused by the image. Only known decoder messages count. Everything
 * else (no memory, a missing library, a bug) is the service's own failure, not the client's.
 */
export function isImageFault(thrown: unknown): thrown is Error {
  if (!(thrown instanceof Error)) return false;
  const { message } = thrown;
  if (systemFaults.test(message)) return false;
  return message.split('\n').some((line) => imageFaults.some((fault) => fault.test(line.trim())));
}
