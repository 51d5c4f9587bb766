const mebibyte = 1024 ** 2;
/** Peak memory of the HTTP process with the images that it receives and sends. */
const httpBytes = 250 * mebibyte;
/** The rest is for the kernel and the container's other processes. */
const usableShare = 0.95;
/** What a process keeps after a photograph of 12 megapixels; it starts anew above that. */
const mostProcessBytes = 400 * mebibyte;
/** Below this, small images would be rejected that usually fit. */
const leastBytes = 600 * mebibyte;

/**
 * How pixel processes share the memory that inference leaves: what each may keep between images, and a
 * budget for the images in addition.
 * @param bytes the container's memory without inference
 */
export function pixelMemory(bytes: number, processes: number): { processBytes: number; budgetBytes: number } {
  const usable = Math.max(leastBytes, bytes * usableShare - httpBytes);
  const processBytes = Math.min(mostProcessBytes, usable / (processes + 1));
  return { processBytes, budgetBytes: usable - processes * processBytes };
}
